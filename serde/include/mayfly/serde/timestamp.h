// The stored timestamp and the one rule that decides when an entry is expired.
//
// An entry is the smallest thing that expires: a value, one list element, one
// map entry, one accumulator. Each carries the time of its last access, never
// the time of its expiry, so that a changed TTL acts at once on stored data.
//
//   ExpiryRule rule{.ttl_ms = 3'600'000};
//   if (rule.IsExpired(last_access_ms, clock.NowMs())) { ... }
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "mayfly/serde/internal/byte_order.h"

namespace mayfly {

// Time of last access.  Unit: milliseconds since the Unix epoch.
// Range: 0 to kNeverExpires; a negative one is never written, and one that is
// found in stored bytes marks them as malformed.
using TimestampMs = std::int64_t;

// An entry with this timestamp never expires, whatever the TTL.
inline constexpr TimestampMs kNeverExpires =
    std::numeric_limits<std::int64_t>::max();

// A TTL of this length is infinite: nothing under it expires.
inline constexpr std::int64_t kInfiniteTtlMs = -1;

// Bytes that a timestamp takes in storage.
inline constexpr std::size_t kTimestampBytes = 8;

// a + b, held at INT64_MAX and INT64_MIN instead of wrapping.
constexpr std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  if (b > 0 && a > std::numeric_limits<std::int64_t>::max() - b) {
    return std::numeric_limits<std::int64_t>::max();
  }
  if (b < 0 && a < std::numeric_limits<std::int64_t>::min() - b) {
    return std::numeric_limits<std::int64_t>::min();
  }
  return a + b;
}

// Decides for the whole project whether an entry is expired: reads, background
// removal and snapshots all ask this and nothing else.
// Threads: a plain value; copy freely.
struct ExpiryRule {
  // Unit: milliseconds.  Range: 1 to INT64_MAX, or kInfiniteTtlMs.
  std::int64_t ttl_ms = kInfiniteTtlMs;

  // Entries last accessed at or before this instant are expired whatever
  // ttl_ms says. A restore with a longer TTL sets it, so that what had expired
  // under the old TTL stays expired.  Range: below kNeverExpires.
  TimestampMs expired_through_ms = std::numeric_limits<std::int64_t>::min();

  // The instant at which an entry expires: last_access_ms + ttl_ms, saturating
  // at INT64_MAX; kNeverExpires if it never does.
  // Source: Flink TtlUtils.expired (the sum and its cap).
  constexpr TimestampMs ExpiryTime(TimestampMs last_access_ms) const {
    if (last_access_ms == kNeverExpires || ttl_ms == kInfiniteTtlMs) {
      return kNeverExpires;
    }
    return SaturatingAdd(last_access_ms, ttl_ms);
  }

  // The latest last access that counts as expired at `now_ms`: who checks many
  // entries at one instant compares each with this.
  constexpr TimestampMs ExpiredThrough(TimestampMs now_ms) const {
    if (ttl_ms == kInfiniteTtlMs) return expired_through_ms;
    // The sum saturates at INT64_MAX, so at that instant all have expired.
    if (now_ms == kNeverExpires) return kNeverExpires - 1;
    return std::max(expired_through_ms, SaturatingAdd(now_ms, -ttl_ms));
  }

  // True from the instant ExpiryTime(last_access_ms) on, that instant included.
  constexpr bool IsExpired(TimestampMs last_access_ms,
                           TimestampMs now_ms) const {
    return last_access_ms <= ExpiredThrough(now_ms);
  }

  friend bool operator==(const ExpiryRule&, const ExpiryRule&) = default;
};

// Appends the stored form: 8 bytes, big-endian two's complement.
inline void AppendTimestamp(TimestampMs timestamp_ms, std::string& out) {
  serde_internal::AppendBigEndian(static_cast<std::uint64_t>(timestamp_ms),
                                  out);
}

// Reads the stored form from the first 8 bytes.
// Range: `bytes` holds at least kTimestampBytes; the caller has checked it.
inline TimestampMs ReadTimestamp(std::string_view bytes) {
  return static_cast<TimestampMs>(
      serde_internal::ReadBigEndian<std::uint64_t>(bytes));
}

}  // namespace mayfly
