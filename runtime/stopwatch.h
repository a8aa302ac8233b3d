// How long something takes.
#pragma once

#include <algorithm>
#include <chrono>

#include "mayfly/serde/clock.h"

namespace mayfly::runtime_internal {

// Goes by the clock's steady time, so that nobody who sets the clock changes
// what is measured; by the clock itself if that is all there is.
// Threads: one at a time.
class Stopwatch {
 public:
  // Lifetime: the clock outlives this.
  explicit Stopwatch(const TtlClock& clock)
      : clock_(&clock), start_ms_(TimeMs()) {}

  // Since this was made.
  std::chrono::milliseconds elapsed() const {
    return std::chrono::milliseconds(
        std::max<TimestampMs>(TimeMs() - start_ms_, 0));
  }

 private:
  TimestampMs TimeMs() const {
    return clock_->SteadyMs().value_or(clock_->NowMs());
  }

  const TtlClock* clock_;
  TimestampMs start_ms_;
};

}  // namespace mayfly::runtime_internal
