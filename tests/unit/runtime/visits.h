// A small job for tests, and what it must put out, worked out without Mayfly.
//
// Input lines are "user@time". For each the job puts out "user time count
// recent": how often the user came since being away for a whole TTL, and how
// many of the visits are younger than the TTL, both in event time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mayfly/runtime/job.h"

namespace mayfly {

struct Visit {
  std::string user;
  TimestampMs time_ms = 0;
};

struct VisitCount {
  std::string user;
  TimestampMs time_ms = 0;
  std::int64_t count = 0;
  std::int64_t recent = 0;
};

inline constexpr std::int64_t kVisitTtlMs = 100;

absl::StatusOr<Visit> ParseVisit(std::string_view line);
void FormatVisitCount(const VisitCount& visit, std::string& line);

using VisitFunction = KeyedProcessFunction<std::string, Visit, VisitCount>;
using VisitJob = Job<std::string, Visit, VisitCount>;

// Counts visits. `before_each` is called first for each one, on whatever shard,
// and may fail or throw.
std::unique_ptr<VisitFunction> MakeVisitCounter(
    std::function<absl::Status(const Visit&)> before_each = nullptr);

// Gives the job everything but its source and its options.
void AddVisitCounter(VisitJob& job, std::unique_ptr<Sink> sink,
                     std::function<absl::Status(const Visit&)> before_each);

// So many lines of some users at times that go up and down; the same for the
// same number.
std::vector<std::string> VisitLines(int lines);

// What each shard puts out for these lines.
std::vector<std::vector<std::string>> ExpectedVisits(
    const std::vector<std::string>& lines, int shards);

}  // namespace mayfly
