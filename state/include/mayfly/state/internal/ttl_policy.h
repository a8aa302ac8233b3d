// The one rule for reads and writes of state, which all kinds and both
// backends share.
#pragma once

#include <cstdint>
#include <optional>

#include "mayfly/serde/timestamp.h"
#include "mayfly/state/internal/shard_clock.h"
#include "mayfly/state/ttl_config.h"

namespace mayfly::state_internal {

// What a read does with an entry it meets.
enum class ReadOutcome : std::uint8_t {
  kLive,     // Return it.
  kRefresh,  // Return it and stamp it with now.
  kExpired,  // Remove it; return it one last time if expired is visible.
  // Expired only by a clock that has jumped: leave it, and return it if expired
  // is visible.
  kHidden,
};

// A state's TTL as its table applies it. A state without TTL has entries that
// are stamped kNeverExpires and never asks the clock.
struct TtlPolicy {
  ExpiryRule rule;
  // Null without a TTL.
  ShardClock* clock = nullptr;
  bool refresh_on_read = false;
  bool return_expired = false;
  std::int64_t refresh_granularity_ms = 0;

  bool enabled() const { return clock != nullptr; }

  // The time of the operation that begins: the only look at the clock in it,
  // so that nothing expires half-way through.
  TimestampMs Now() const { return enabled() ? clock->NowMs() : kNeverExpires; }

  // The time by which entries are destroyed, as of the last Now().
  TimestampMs PurgeMs() const { return clock->trusted_ms(); }

  ReadOutcome OnRead(TimestampMs timestamp_ms, TimestampMs now_ms) const {
    if (!enabled()) return ReadOutcome::kLive;
    if (rule.IsExpired(timestamp_ms, now_ms)) {
      return rule.IsExpired(timestamp_ms, PurgeMs()) ? ReadOutcome::kExpired
                                                     : ReadOutcome::kHidden;
    }
    if (!refresh_on_read) return ReadOutcome::kLive;
    // An entry stamped with now, or later by a clock that was ahead, has
    // nothing to gain.
    return timestamp_ms < now_ms &&
                   now_ms - timestamp_ms >= refresh_granularity_ms
               ? ReadOutcome::kRefresh
               : ReadOutcome::kLive;
  }
};

}  // namespace mayfly::state_internal
