// A clock that stands still until it is told to move.
//
//   auto clock = std::make_shared<mayfly::ManualClock>(1'000'000);
//   options.processing_clock = clock;
//   clock->Advance(std::chrono::hours(3));
#pragma once

#include <atomic>
#include <chrono>

#include "mayfly/serde/clock.h"

namespace mayfly {

// Threads: any.
class ManualClock final : public TtlClock {
 public:
  // Unit: milliseconds since the Unix epoch, as in SetMs().
  explicit ManualClock(TimestampMs now_ms = 0) : now_ms_(now_ms) {}

  TimestampMs NowMs() const override { return now_ms_.load(); }

  // Sets the time, backwards too, as a machine's clock may be.
  void SetMs(TimestampMs now_ms) { now_ms_.store(now_ms); }

  void Advance(std::chrono::milliseconds duration) {
    now_ms_.fetch_add(duration.count());
  }

 private:
  std::atomic<TimestampMs> now_ms_;
};

}  // namespace mayfly
