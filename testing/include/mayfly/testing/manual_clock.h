// A clock that stands still until it is told to move.
//
//   auto clock = std::make_shared<mayfly::ManualClock>(1'000'000);
//   options.processing_clock = clock;
//   clock->Advance(std::chrono::hours(3));
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "mayfly/serde/clock.h"

namespace mayfly {

// Threads: any, but only one at a time moves it.
class ManualClock final : public TtlClock {
 public:
  // Unit: milliseconds since the Unix epoch, as in SetMs().
  explicit ManualClock(TimestampMs now_ms = 0) : now_ms_(now_ms) {}

  TimestampMs NowMs() const override { return now_ms_.load(); }
  std::optional<TimestampMs> SteadyMs() const override {
    return steady_ms_.load();
  }

  // Lets time pass until it is `now_ms`. An earlier time sets the clock back,
  // as a machine's clock may be.
  void SetMs(TimestampMs now_ms) {
    const TimestampMs passed_ms =
        SaturatingAdd(now_ms, -now_ms_.exchange(now_ms));
    if (passed_ms <= 0) return;
    steady_ms_.store(SaturatingAdd(steady_ms_.load(), passed_ms));
  }

  void Advance(std::chrono::milliseconds duration) {
    SetMs(SaturatingAdd(NowMs(), duration.count()));
  }

  // Sets the clock without any time having passed: a machine's clock that
  // somebody sets wrong, or right again.
  void JumpToMs(TimestampMs now_ms) { now_ms_.store(now_ms); }

 private:
  std::atomic<TimestampMs> now_ms_;
  std::atomic<TimestampMs> steady_ms_ = 0;
};

}  // namespace mayfly
