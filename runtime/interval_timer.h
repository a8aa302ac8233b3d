// Says when it is time again, by a clock that people may set.
#pragma once

#include <chrono>
#include <cstdint>

#include "mayfly/serde/timestamp.h"

namespace mayfly::runtime_internal {

// Threads: one.
class IntervalTimer {
 public:
  IntervalTimer(std::chrono::milliseconds interval, TimestampMs now_ms)
      : interval_ms_(interval.count()), start_ms_(now_ms) {}

  // Whether the interval has passed since Restart(). A clock that was set back
  // begins the interval again, so it is late once and never stuck.
  bool Due(TimestampMs now_ms) {
    if (now_ms < start_ms_) start_ms_ = now_ms;
    return now_ms - start_ms_ >= interval_ms_;
  }

  void Restart(TimestampMs now_ms) { start_ms_ = now_ms; }

 private:
  const std::int64_t interval_ms_;
  TimestampMs start_ms_;
};

}  // namespace mayfly::runtime_internal
