// Tells now and then how far a job has come.
#pragma once

#include <cstdint>
#include <vector>

#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/clock.h"
#include "runtime/interval_timer.h"
#include "runtime/shard_runner.h"

namespace mayfly::runtime_internal {

// Threads: one, the reader's.
class ProgressReporter {
 public:
  // Lifetime: the plan and the clock outlive this.
  ProgressReporter(const JobPlan& plan, const TtlClock& clock);

  // Counts the rate from here on.
  void StartAt(std::uint64_t records) { records_ = records; }

  // Whether it is time to Report().
  bool Due();

  // Fills in what shards, source and clock tell, and passes it on.
  void Report(JobProgress progress, const std::vector<ShardReport>& reports);

  // Since this was made; 0 at least, whatever happened to the clock.
  std::chrono::milliseconds elapsed() const;

 private:
  const JobPlan& plan_;
  const TtlClock& clock_;
  const TimestampMs start_ms_;
  IntervalTimer timer_;
  // At the last report.
  TimestampMs reported_ms_;
  std::uint64_t records_ = 0;
};

}  // namespace mayfly::runtime_internal
