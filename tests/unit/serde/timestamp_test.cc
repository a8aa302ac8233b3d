#include "mayfly/serde/timestamp.h"

#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::Hex;
using serde_test::Unhex;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(TimestampBytes, AreBigEndianTwosComplement) {
  const struct {
    TimestampMs timestamp_ms;
    const char* hex;
  } rows[] = {
      {0, "0000000000000000"},
      {1, "0000000000000001"},
      {1700000000000, "0000018bcfe56800"},
      {kNeverExpires, "7fffffffffffffff"},
      {-1, "ffffffffffffffff"},
      {kMin, "8000000000000000"},
  };
  for (const auto& row : rows) {
    std::string out = "x";
    AppendTimestamp(row.timestamp_ms, out);
    EXPECT_EQ(Hex(out), std::string("78") + row.hex);
    EXPECT_EQ(ReadTimestamp(Unhex(row.hex)), row.timestamp_ms);
  }
}

TEST(TimestampBytes, ReadsOnlyTheFirstEight) {
  EXPECT_EQ(ReadTimestamp(Unhex("0000000000000007 ff ff")), 7);
}

TEST(SaturatingAdd, StaysWithinRange) {
  EXPECT_EQ(SaturatingAdd(1, 2), 3);
  EXPECT_EQ(SaturatingAdd(kMax, 0), kMax);
  EXPECT_EQ(SaturatingAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(SaturatingAdd(kMax - 1, 2), kMax);
  EXPECT_EQ(SaturatingAdd(kMax, kMax), kMax);
  EXPECT_EQ(SaturatingAdd(kMin + 1, -1), kMin);
  EXPECT_EQ(SaturatingAdd(kMin, -1), kMin);
  EXPECT_EQ(SaturatingAdd(kMin, kMin), kMin);
  EXPECT_EQ(SaturatingAdd(kMin, kMax), -1);
  EXPECT_EQ(SaturatingAdd(kMax, kMin), -1);
}

struct ExpiryRow {
  const char* why;
  ExpiryRule rule;
  TimestampMs last_access_ms;
  TimestampMs now_ms;
  bool expired;
};

std::ostream& operator<<(std::ostream& out, const ExpiryRow& row) {
  return out << row.why << ": ttl " << row.rule.ttl_ms << ", last access "
             << row.last_access_ms << ", now " << row.now_ms;
}

constexpr std::int64_t kYearMs = 365 * std::int64_t{86'400'000};

constexpr ExpiryRow kExpiryTable[] = {
    {"one before the deadline", {100}, 1000, 1099, false},
    {"exactly at the deadline", {100}, 1000, 1100, true},
    {"one after the deadline", {100}, 1000, 1101, true},
    {"a clock that went back", {100}, 1000, 0, false},
    {"a clock that cannot tell", {100}, 1000, -1, false},
    {"the shortest ttl, same instant", {1}, 1000, 1000, false},
    {"the shortest ttl, next instant", {1}, 1000, 1001, true},

    // Sums that a 32-bit count of seconds could not hold.
    {"15 years", {15 * kYearMs}, 1700000000000, 1700000060000, false},
    {"15 years", {15 * kYearMs}, 1700000000000, 2173039999999, false},
    {"15 years", {15 * kYearMs}, 1700000000000, 2173040000000, true},
    {"20 years", {20 * kYearMs}, 1700000000000, 2147483647999, false},
    {"20 years", {20 * kYearMs}, 1700000000000, 2147483648000, false},
    {"20 years", {20 * kYearMs}, 1700000000000, 2330719999999, false},
    {"20 years", {20 * kYearMs}, 1700000000000, 2330720000000, true},

    // Sums that 64 bits cannot hold saturate.
    {"largest ttl", {kMax}, 10, 50, false},
    {"largest ttl", {kMax}, 10, kMax - 1, false},
    {"largest ttl, end of time", {kMax}, 10, kMax, true},
    {"largest ttl", {kMax}, 1700000000000, kMax - 1, false},
    {"largest ttl, end of time", {kMax}, 1700000000000, kMax, true},

    // Sums that 64 bits can hold do not, although the ttl is the largest.
    {"zero and largest ttl", {kMax}, 0, kMax - 1, false},
    {"zero and largest ttl", {kMax}, 0, kMax, true},
    {"negative and largest ttl", {kMax}, -10, kMax - 11, false},
    {"negative and largest ttl", {kMax}, -10, kMax - 10, true},
    {"most negative and largest ttl", {kMax}, kMin + 1, -1, false},
    {"most negative and largest ttl", {kMax}, kMin + 1, 0, true},

    {"infinite ttl", {kInfiniteTtlMs}, 0, kMax, false},
    {"never expires", {1}, kNeverExpires, kMax, false},
    {"never expires, largest ttl", {kMax}, kNeverExpires, kMax, false},

    // What had expired under an earlier ttl stays so.
    {"up to the cut", {kMax, 500}, 500, 501, true},
    {"past the cut", {kMax, 500}, 501, 501, false},
    {"up to the cut, infinite ttl", {kInfiniteTtlMs, 500}, 500, 501, true},
    {"past the cut, infinite ttl", {kInfiniteTtlMs, 500}, 501, kMax, false},
    {"past the cut, own deadline", {100, 500}, 501, 601, true},
    {"never expires beats the latest cut", {1, kMax - 1}, kMax, 5, false},
};

TEST(ExpiryRule, FollowsTheTable) {
  for (const ExpiryRow& row : kExpiryTable) {
    EXPECT_EQ(row.rule.IsExpired(row.last_access_ms, row.now_ms), row.expired)
        << row;
  }
}

TEST(ExpiryRule, ExpiryTimeIsTheFirstExpiredInstant) {
  EXPECT_EQ(ExpiryRule{100}.ExpiryTime(1000), 1100);
  EXPECT_EQ(ExpiryRule{kMax}.ExpiryTime(1), kMax);
  EXPECT_EQ(ExpiryRule{kMax}.ExpiryTime(-10), kMax - 10);
  EXPECT_EQ(ExpiryRule{100}.ExpiryTime(kNeverExpires), kNeverExpires);
  EXPECT_EQ(ExpiryRule{}.ExpiryTime(1000), kNeverExpires);

  std::mt19937_64 rng(20240101);
  for (int i = 0; i < 10'000; ++i) {
    const auto ttl_ms = static_cast<std::int64_t>(rng() >> (1 + rng() % 62));
    const auto last_ms = static_cast<std::int64_t>(rng() >> (1 + rng() % 62));
    if (ttl_ms == 0 || last_ms == kNeverExpires) continue;
    const ExpiryRule rule{ttl_ms};
    const TimestampMs expiry_ms = rule.ExpiryTime(last_ms);
    ASSERT_TRUE(rule.IsExpired(last_ms, expiry_ms)) << ttl_ms << " " << last_ms;
    ASSERT_FALSE(rule.IsExpired(last_ms, expiry_ms - 1))
        << ttl_ms << " " << last_ms;
  }
}

// Who compares timestamps with ExpiredThrough() decides as IsExpired() does.
TEST(ExpiryRule, ExpiredThroughIsTheLastExpiredAccess) {
  EXPECT_EQ((ExpiryRule{100}.ExpiredThrough(1100)), 1000);
  EXPECT_EQ((ExpiryRule{100}.ExpiredThrough(-1)), -101);
  EXPECT_EQ((ExpiryRule{100}.ExpiredThrough(kMax)), kMax - 1);
  EXPECT_EQ((ExpiryRule{kMax}.ExpiredThrough(kMax - 1)), -1);
  EXPECT_EQ((ExpiryRule{100, 500}.ExpiredThrough(550)), 500);
  EXPECT_EQ((ExpiryRule{100, 500}.ExpiredThrough(650)), 550);
  EXPECT_EQ((ExpiryRule{}.ExpiredThrough(kMax)), kMin);
  EXPECT_EQ((ExpiryRule{kInfiniteTtlMs, 500}.ExpiredThrough(kMax)), 500);
}

TEST(ExpiryRule, IsUsableInConstantExpressions) {
  static_assert(ExpiryRule{100}.IsExpired(1000, 1100));
  static_assert(!ExpiryRule{100}.IsExpired(1000, 1099));
  static_assert(ExpiryRule{100} == ExpiryRule{100});
  static_assert(ExpiryRule{100} != ExpiryRule{100, 5});
}

}  // namespace
}  // namespace mayfly
