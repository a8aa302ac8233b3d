#include "runtime/job_totals.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace mayfly::runtime_internal {

JobTotals TotalsOf(const std::vector<ShardReport>& reports) {
  JobTotals totals;
  std::map<std::string, StateStatistics> states;
  for (const ShardReport& report : reports) {
    totals.records += report.records;
    totals.late_elements += report.late_elements;
    totals.clock_jumped |= report.clock_jumped;
    if (totals.watermark_ms == 0) {
      totals.watermark_ms = report.watermark_ms;
    } else if (report.watermark_ms != 0) {
      totals.watermark_ms = std::min(totals.watermark_ms, report.watermark_ms);
    }
    for (const StateStatistics& state : report.states) {
      const auto [sum, is_first] = states.try_emplace(state.state, state);
      if (!is_first) sum->second += state;
    }
  }
  for (auto& [name, sum] : states) totals.states.push_back(std::move(sum));
  return totals;
}

}  // namespace mayfly::runtime_internal
