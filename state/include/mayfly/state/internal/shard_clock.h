// The time of one shard, which never goes backwards but to undo a jump.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
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

// The larger of what a source says and what has been seen before, unless the
// source has jumped ahead.
//
// A wall clock that is set far ahead would have everything expire. Its jump is
// recognised by a second clock that nobody sets: as long as the source is
// further ahead than the time that has passed explains, what it says is taken
// for now (readers must not be shown what may have expired), but nothing is
// destroyed by it, and when it is set right again now goes back.
// Threads: one, the shard's.
class ShardClock {
 public:
  // A source that gets further ahead than this within an hour has jumped.
  // Unit: milliseconds.
  static constexpr std::int64_t kJumpMs = 60'000;

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
    return now_ms_;
  }

  void AdvanceTo(TimestampMs time_ms) {
    trusted_ms_ = std::max(trusted_ms_, time_ms);
    now_ms_ = std::max(now_ms_, time_ms);
  }

  // The largest time seen that was no jump, as of the last look: what commits
  // record, and all that may be destroyed goes by. Never after NowMs().
  TimestampMs trusted_ms() const { return trusted_ms_; }

  // Whether the source had jumped ahead at the last look.
  bool jumped() const { return jumped_; }

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
    if (source_ == nullptr) return;
    const TimestampMs said_ms = source_->NowMs();
    const std::optional<TimestampMs> steady_ms = source_->SteadyMs();
    if (!steady_ms || !anchor_) {
      trusted_ms_ = std::max(trusted_ms_, said_ms);
      now_ms_ = trusted_ms_;
      // A source that is behind, since it was set back while nobody looked, is
      // not right.
      if (steady_ms && said_ms >= trusted_ms_) {
        anchor_ = Anchor{trusted_ms_, *steady_ms};
      }
      return;
    }
    const std::int64_t passed_ms =
        std::max<std::int64_t>(0, *steady_ms - anchor_->steady_ms);
    const TimestampMs steady_now_ms =
        SaturatingAdd(anchor_->trusted_ms, passed_ms);
    jumped_ = said_ms > SaturatingAdd(steady_now_ms, kJumpMs);
    // Time goes on while the source is wrong.
    trusted_ms_ = std::max(trusted_ms_, jumped_ ? steady_now_ms : said_ms);
    now_ms_ = std::max(trusted_ms_, said_ms);
    if (passed_ms < kAnchorMs) return;
    // One that is far from where it should be has been set, and may be set
    // right again.
    const bool right = said_ms <= SaturatingAdd(steady_now_ms, kJumpMs) &&
                       said_ms >= SaturatingAdd(steady_now_ms, -kJumpMs);
    anchor_ = Anchor{right ? said_ms : steady_now_ms, *steady_ms};
  }

  // A moment at which the source was right.
  struct Anchor {
    TimestampMs trusted_ms;
    TimestampMs steady_ms;
  };

  // Clocks run apart a little, and are set right by small steps: what they have
  // come apart in an hour is forgiven. Many small jumps count as a large one.
  static constexpr std::int64_t kAnchorMs = 3'600'000;

  const std::shared_ptr<const TtlClock> source_;
  const std::uint64_t ticks_max_;
  std::uint64_t asked_at_ = 0;
  std::optional<Anchor> anchor_;
  TimestampMs now_ms_ = 0;
  TimestampMs trusted_ms_ = 0;
  bool jumped_ = false;
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
