// Says how a restore gets on, and ends it when the job is asked to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/runtime/job_report.h"
#include "mayfly/serde/clock.h"
#include "runtime/interval_timer.h"

namespace mayfly::runtime_internal {

// Threads: one, but `stop` may be set on any.
class RestoreMeter {
 public:
  // Lifetime: all of these outlive this.
  RestoreMeter(const JobPlan& plan, const TtlClock& clock,
               const std::atomic<bool>& stop);

  void Begin(std::string source, RestoreStep step, std::uint64_t total);

  // So much of the step is done.
  // Errors: kCancelled if the job was asked to stop.
  absl::Status Add(std::uint64_t done);
  // The same for who counts by himself, and may know the total better by now.
  absl::Status Set(std::uint64_t done, std::uint64_t total);

 private:
  void Report();

  const JobPlan& plan_;
  const TtlClock& clock_;
  const std::atomic<bool>& stop_;
  const TimestampMs start_ms_;
  IntervalTimer progress_timer_;
  IntervalTimer log_timer_;
  TimestampMs step_start_ms_;
  RestoreProgress progress_;
};

}  // namespace mayfly::runtime_internal
