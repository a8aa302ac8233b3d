// Counts malformed lines, reports them and says when they are too many.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/runtime/job_report.h"
#include "mayfly/serde/clock.h"
#include "runtime/interval_timer.h"

namespace mayfly::runtime_internal {

// Threads: one.
class MalformedLines {
 public:
  // Lifetime: the plan and the clock outlive this.
  MalformedLines(const JobPlan& plan, const TtlClock& clock);

  // Begins with what was counted up to where reading starts.
  void StartAt(std::uint64_t count) { count_ = count; }

  // Errors: kResourceExhausted naming the line if it is one too many.
  absl::Status Add(const MalformedLine& line);

  // Logs how many lines it has kept quiet about, if any.
  void Finish();

  std::uint64_t count() const { return count_; }

 private:
  void Log(const MalformedLine& line);

  const JobPlan& plan_;
  const TtlClock& clock_;
  std::uint64_t count_ = 0;
  // Within the interval that runs.
  std::uint64_t logged_ = 0;
  std::uint64_t not_logged_ = 0;
  IntervalTimer timer_;
};

}  // namespace mayfly::runtime_internal
