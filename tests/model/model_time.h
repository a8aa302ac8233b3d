// The clocks of a machine and the time that a shard takes from them, by the
// rules that the library's headers state.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/model/program.h"

namespace mayfly::model_test {

// Unit: milliseconds.
class ModelTime {
 public:
  explicit ModelTime(std::int64_t start_ms)
      : wall_ms_(start_ms),
        right_ms_(start_ms),
        trusted_ms_(start_ms),
        now_ms_(start_ms) {
    Look();
  }

  // What readers and writers go by.
  std::int64_t now_ms() const { return now_ms_; }
  // What may be destroyed goes by this: as now, but for a jump.
  std::int64_t trusted_ms() const { return trusted_ms_; }
  bool jumped() const { return jumped_; }
  // What the machine's clock says.
  std::int64_t wall_ms() const { return wall_ms_; }
  std::int64_t watermark_ms() const { return watermark_ms_; }

  // One of the actions on clocks; the shard looks at them afterwards.
  void Move(const Operation& operation) {
    switch (operation.action) {
      case Action::kPass:
        wall_ms_ += operation.ms;
        right_ms_ += operation.ms;
        steady_ms_ += operation.ms;
        break;
      case Action::kSetBack:
        wall_ms_ = std::max<std::int64_t>(0, wall_ms_ - operation.ms);
        break;
      case Action::kJump:
        wall_ms_ += operation.ms;
        break;
      case Action::kSetRight:
        wall_ms_ = right_ms_;
        break;
      default:  // kMoveWatermark: it never goes back.
        watermark_ms_ = std::max(watermark_ms_, watermark_ms_ + operation.ms);
        break;
    }
    Look();
  }

  // A new process begins at what the last commit recorded, and has no reason
  // to doubt the machine's clock.
  void Restart(std::int64_t trusted_ms, std::int64_t watermark_ms) {
    trusted_ms_ = trusted_ms;
    watermark_ms_ = watermark_ms;
    right_ms_ = wall_ms_;
    jumped_ = false;
    anchored_ = false;
    Look();
  }

 private:
  // Ahead of the time that has passed by more than this, within an hour, is a
  // jump.
  static constexpr std::int64_t kJumpMs = 60'000;
  static constexpr std::int64_t kHourMs = 3'600'000;

  void SetAnchor(std::int64_t right_ms) {
    anchored_ = true;
    anchor_ms_ = right_ms;
    anchor_steady_ms_ = steady_ms_;
  }

  void Look() {
    if (!anchored_) {
      // Behind what has been seen before, it is not right.
      const bool right = wall_ms_ >= trusted_ms_;
      trusted_ms_ = now_ms_ = std::max(trusted_ms_, wall_ms_);
      if (right) SetAnchor(trusted_ms_);
      return;
    }
    const std::int64_t passed_ms = steady_ms_ - anchor_steady_ms_;
    const std::int64_t should_be_ms = anchor_ms_ + passed_ms;
    jumped_ = wall_ms_ - should_be_ms > kJumpMs;
    trusted_ms_ = std::max(trusted_ms_, jumped_ ? should_be_ms : wall_ms_);
    now_ms_ = std::max(trusted_ms_, wall_ms_);
    if (passed_ms < kHourMs) return;
    const std::int64_t off_ms = wall_ms_ - should_be_ms;
    const bool right = -kJumpMs <= off_ms && off_ms <= kJumpMs;
    SetAnchor(right ? wall_ms_ : should_be_ms);
  }

  // What the machine's clock says, and what it should say.
  std::int64_t wall_ms_;
  std::int64_t right_ms_;
  // Time that has really passed.
  std::int64_t steady_ms_ = 0;
  // When the clock was last known to be right.
  bool anchored_ = false;
  std::int64_t anchor_ms_ = 0;
  std::int64_t anchor_steady_ms_ = 0;
  std::int64_t trusted_ms_ = 0;
  std::int64_t now_ms_ = 0;
  bool jumped_ = false;
  std::int64_t watermark_ms_ = 0;
};

}  // namespace mayfly::model_test
