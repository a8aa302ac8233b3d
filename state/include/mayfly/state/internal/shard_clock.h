// The time of one shard, which never goes backwards.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "mayfly/serde/clock.h"

namespace mayfly::state_internal {

// How often a clock asks its source.
enum class ClockReading {
  // Each time.
  kExact,
  // Again only when a part of a millisecond may have passed. Asking the kernel
  // waits for all earlier loads, so that accesses to a large state could not
  // overlap their cache misses and would take several times as long; the
  // processor's own counter is read without that wait.
  kCoarse,
};

// The larger of what a source says and what has been seen before.
// Threads: one, the shard's.
class ShardClock {
 public:
  // Without a source time moves by AdvanceTo() alone: a watermark.
  ShardClock(std::shared_ptr<const TtlClock> source, ClockReading reading)
      : source_(std::move(source)),
        ticks_max_(reading == ClockReading::kCoarse ? kTicksMax : 0) {}

  TimestampMs NowMs() {
    const std::uint64_t ticks = Ticks();
    // A counter that was set back makes the difference huge: ask again.
    if (ticks - asked_at_ >= ticks_max_) [[unlikely]] {
      asked_at_ = ticks;
      Ask();
    }
    return largest_ms_;
  }

  void AdvanceTo(TimestampMs time_ms) {
    largest_ms_ = std::max(largest_ms_, time_ms);
  }

  // The largest time seen, which commits record.
  TimestampMs largest_ms() const { return largest_ms_; }

 private:
#if defined(__x86_64__)
  // At most a millisecond where the counter runs at 1 GHz or more.
  static constexpr std::uint64_t kTicksMax = 1'000'000;
  static std::uint64_t Ticks() { return __builtin_ia32_rdtsc(); }
#else
  // Without a counter that is cheap to read, each time is asked for.
  static constexpr std::uint64_t kTicksMax = 0;
  static std::uint64_t Ticks() { return 0; }
#endif

  void Ask() {
    if (source_ != nullptr) AdvanceTo(source_->NowMs());
  }

  const std::shared_ptr<const TtlClock> source_;
  const std::uint64_t ticks_max_;
  std::uint64_t asked_at_ = 0;
  TimestampMs largest_ms_ = 0;
};

// The time of the last commit, by which entries are destroyed in the
// background. A restart begins again from that commit and sees every entry
// that was live then; a purge by any later time could have taken it away.
// Threads: any.
class CommittedClock final : public TtlClock {
 public:
  TimestampMs NowMs() const override {
    return committed_ms_.load(std::memory_order_relaxed);
  }

  void Set(TimestampMs time_ms) {
    committed_ms_.store(time_ms, std::memory_order_relaxed);
  }

 private:
  std::atomic<TimestampMs> committed_ms_{0};
};

}  // namespace mayfly::state_internal
