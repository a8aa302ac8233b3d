#include "bench/table/result_table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <utility>

namespace mayfly::bench {
namespace {

using nlohmann::json;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : (values[middle - 1] + values[middle]) / 2;
}

// How far repetitions lie apart, as a part of their median.
double Spread(const std::vector<double>& values) {
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return (*max - *min) / Median(values);
}

// "rocksdb/value/put/mayfly/iterations:500/..." -> workload and contender.
std::pair<std::string, std::string> SplitName(std::string name) {
  name.resize(std::min(name.size(), name.find("/iterations:")));
  const std::size_t slash = name.rfind('/');
  return {name.substr(0, slash), name.substr(slash + 1)};
}

std::string Fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string ShowTime(double ns) {
  constexpr double kThousand = 1000;
  if (ns < kThousand) return Fixed(ns, 0) + " ns";
  if (ns < kThousand * kThousand) return Fixed(ns / kThousand, 2) + " us";
  return Fixed(ns / kThousand / kThousand, 2) + " ms";
}

// A row of the table; all but the first two columns are aligned right.
using Row = std::vector<std::string>;

void PrintRows(const std::vector<Row>& rows, std::ostream& out) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i < 2 ? std::left : std::right)
          << std::setw(static_cast<int>(widths[i])) << row[i]
          << (i + 1 < row.size() ? " | " : "\n");
    }
  }
}

}  // namespace

void ResultTable::Add(const json& report) {
  if (machine_.is_null()) {
    machine_ = report.at("context");
    machine_.erase("executable");  // A path that means nothing elsewhere.
  }
  for (const json& run : report.at("benchmarks")) {
    if (run.at("run_type") != "iteration") continue;
    const auto [workload, contender] = SplitName(run.at("name"));
    Times& times = times_[workload][contender];
    if (times.wall_ns.empty()) {
      std::istringstream label(run.value("label", ""));
      Comparison comparison{workload, contender, "", 0};
      while (label >> comparison.other >> comparison.target) {
        comparisons_.push_back(comparison);
      }
    }
    times.wall_ns.push_back(run.at("real_time"));
    times.cpu_ns.push_back(run.at("cpu_time"));
  }
  // A contender that did not run, by a filter, is compared with nothing.
  std::erase_if(comparisons_, [this](const Comparison& comparison) {
    return !times_[comparison.workload].contains(comparison.other);
  });
}

const ResultTable::Times& ResultTable::Find(
    const std::string& workload, const std::string& contender) const {
  return times_.at(workload).at(contender);
}

double ResultTable::WallRatio(const Comparison& comparison) const {
  return Median(Find(comparison.workload, comparison.other).wall_ns) /
         Median(Find(comparison.workload, comparison.ours).wall_ns);
}

double ResultTable::CpuRatio(const Comparison& comparison) const {
  return Median(Find(comparison.workload, comparison.other).cpu_ns) /
         Median(Find(comparison.workload, comparison.ours).cpu_ns);
}

std::string ResultTable::Met(const Comparison& comparison) const {
  if (comparison.target == 0) return "";
  const bool by_wall = WallRatio(comparison) >= comparison.target;
  const bool by_cpu = CpuRatio(comparison) >= comparison.target;
  if (by_wall != by_cpu) return "unclear";
  return by_wall ? "yes" : "no";
}

void ResultTable::Print(std::ostream& out) const {
  std::vector<Row> rows = {{"workload", "contender", "its time", "ours",
                            "spread", "ratio", "cpu", "target", "met?"}};
  std::map<std::string, int> verdicts;
  for (const Comparison& comparison : comparisons_) {
    const Times& other = Find(comparison.workload, comparison.other);
    const Times& ours = Find(comparison.workload, comparison.ours);
    const double spread = std::max(Spread(other.wall_ns), Spread(ours.wall_ns));
    const std::string met = Met(comparison);
    if (!met.empty()) ++verdicts[met];
    const std::string shown_ours =
        comparison.ours == "mayfly" ? "" : ": " + comparison.ours;
    rows.push_back(
        {comparison.workload + shown_ours, comparison.other,
         ShowTime(Median(other.wall_ns)), ShowTime(Median(ours.wall_ns)),
         Fixed(spread * 100, 0) + " %", Fixed(WallRatio(comparison), 2) + "x",
         Fixed(CpuRatio(comparison), 2) + "x",
         met.empty() ? "" : Fixed(comparison.target, 2) + "x", met});
  }
  PrintRows(rows, out);
  out << "\ntargets met: " << verdicts["yes"] << ", missed: " << verdicts["no"]
      << ", unclear (wall clock and processor time disagree): "
      << verdicts["unclear"] << '\n';
}

json ResultTable::ToJson() const {
  json results = json::array();
  for (const auto& [workload, contenders] : times_) {
    for (const auto& [contender, times] : contenders) {
      results.push_back({{"workload", workload},
                         {"contender", contender},
                         {"wall_ns", Median(times.wall_ns)},
                         {"cpu_ns", Median(times.cpu_ns)},
                         {"wall_spread", Spread(times.wall_ns)},
                         {"repetitions", times.wall_ns.size()}});
    }
  }
  json comparisons = json::array();
  for (const Comparison& comparison : comparisons_) {
    json& row = comparisons.emplace_back(json{
        {"workload", comparison.workload},
        {"ours", comparison.ours},
        {"other", comparison.other},
        {"wall_ratio", WallRatio(comparison)},
        {"cpu_ratio", CpuRatio(comparison)},
    });
    if (comparison.target == 0) continue;
    row["target"] = comparison.target;
    row["met"] = Met(comparison);
  }
  return {{"machine", machine_},
          {"comparisons", comparisons},
          {"results", results}};
}

}  // namespace mayfly::bench
