// The TTLs that rows are written with.
#pragma once

#include <cstdint>

#include "tests/unit/state/test_shard.h"

namespace mayfly::conformance {

inline constexpr UpdateType kWrites = UpdateType::kOnCreateAndWrite;
inline constexpr UpdateType kReadsToo = UpdateType::kOnReadAndWrite;
inline constexpr StateVisibility kNever = StateVisibility::kNeverReturnExpired;
inline constexpr StateVisibility kReturn =
    StateVisibility::kReturnExpiredIfNotCleanedUp;

// The common suite's: 100 ms, and nothing is removed but by reads.
inline StateTtlConfig::Builder OnlyReadsRemove(
    UpdateType update = kWrites, StateVisibility visibility = kNever,
    std::int64_t ttl_ms = 100) {
  return state_test::TtlBuilder(ttl_ms)
      .SetUpdateType(update)
      .SetStateVisibility(visibility)
      .DisableCleanupInBackground();
}

inline StateTtlConfig Suite(UpdateType update = kWrites,
                            StateVisibility visibility = kNever,
                            std::int64_t ttl_ms = 100) {
  return OnlyReadsRemove(update, visibility, ttl_ms).Build().value();
}

inline StateTtlConfig Lasting(std::int64_t ttl_ms) {
  return Suite(kWrites, kNever, ttl_ms);
}

}  // namespace mayfly::conformance
