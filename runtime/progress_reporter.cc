#include "runtime/progress_reporter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/job_totals.h"

namespace mayfly::runtime_internal {

ProgressReporter::ProgressReporter(const JobPlan& plan, const TtlClock& clock)
    : plan_(plan),
      clock_(clock),
      start_ms_(clock.NowMs()),
      timer_(plan.progress_interval, start_ms_),
      reported_ms_(start_ms_) {}

bool ProgressReporter::Due() {
  return plan_.on_progress != nullptr && timer_.Due(clock_.NowMs());
}

void ProgressReporter::Report(JobProgress progress,
                              const std::vector<ShardReport>& reports) {
  const TimestampMs now_ms = clock_.NowMs();
  timer_.Restart(now_ms);
  JobTotals totals = TotalsOf(reports);
  progress.elapsed = elapsed();
  progress.records = totals.records;
  const TimestampMs passed_ms = now_ms - std::exchange(reported_ms_, now_ms);
  const std::uint64_t records =
      totals.records - std::exchange(records_, totals.records);
  if (passed_ms > 0) {
    progress.records_per_second =
        1000.0 * static_cast<double>(records) / static_cast<double>(passed_ms);
  }
  progress.input_bytes_total = plan_.source->total_bytes();
  progress.late_elements = totals.late_elements;
  progress.watermark_ms = totals.watermark_ms;
  progress.states = std::move(totals.states);
  plan_.on_progress(progress);
}

std::chrono::milliseconds ProgressReporter::elapsed() const {
  return std::chrono::milliseconds(
      std::max<TimestampMs>(clock_.NowMs() - start_ms_, 0));
}

}  // namespace mayfly::runtime_internal
