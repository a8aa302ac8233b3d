// What a run of the benchmarks came to.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace mayfly::bench {

class ResultTable {
 public:
  // Takes what mayfly_bench wrote with --benchmark_out.
  void Add(const nlohmann::json& report);

  // One line for each comparison: ratios are times of the other contender over
  // ours, by the wall clock and by processor time.
  void Print(std::ostream& out) const;

  // The machine, the medians and the comparisons.
  nlohmann::json ToJson() const;

 private:
  struct Times {
    std::vector<double> wall_ns;
    std::vector<double> cpu_ns;
  };

  struct Comparison {
    std::string workload;
    std::string ours;
    std::string other;
    // 0: there is none.
    double target = 0;
  };

  const Times& Find(const std::string& workload,
                    const std::string& contender) const;
  double WallRatio(const Comparison& comparison) const;
  double CpuRatio(const Comparison& comparison) const;
  // "yes" or "no" if both ratios say so, else "unclear"; empty without target.
  std::string Met(const Comparison& comparison) const;

  nlohmann::json machine_;
  // By workload and contender.
  std::map<std::string, std::map<std::string, Times>> times_;
  std::vector<Comparison> comparisons_;
};

}  // namespace mayfly::bench
