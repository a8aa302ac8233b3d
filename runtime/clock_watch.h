// Tells people when the wall clock of the shards has jumped.
#pragma once

#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/clock.h"
#include "runtime/interval_timer.h"
#include "runtime/shard_runner.h"

namespace mayfly::runtime_internal {

// Threads: one, the reader's.
class ClockWatch {
 public:
  // Lifetime: the plan and the clock outlive this.
  ClockWatch(const JobPlan& plan, const TtlClock& clock);

  // Whether it is time to Look().
  bool Due() { return timer_.Due(clock_.NowMs()); }

  void Look(const std::vector<ShardReport>& reports);

 private:
  const JobPlan& plan_;
  const TtlClock& clock_;
  IntervalTimer timer_;
  bool jumped_ = false;
};

}  // namespace mayfly::runtime_internal
