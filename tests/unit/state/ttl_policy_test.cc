#include "mayfly/state/internal/ttl_policy.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"

namespace mayfly::state_internal {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct PolicyRow {
  const char* name;
  std::int64_t ttl_ms;
  bool refresh_on_read;
  std::int64_t granularity_ms;
  TimestampMs timestamp_ms;
  TimestampMs now_ms;
  ReadOutcome outcome;
};

class TtlPolicyTest : public ::testing::TestWithParam<PolicyRow> {};

TEST_P(TtlPolicyTest, DecidesReads) {
  const PolicyRow& row = GetParam();
  ShardClock clock(nullptr, ClockReading::kExact);
  clock.AdvanceTo(row.now_ms);
  for (const bool return_expired : {false, true}) {
    const TtlPolicy policy{.rule = {.ttl_ms = row.ttl_ms},
                           .clock = &clock,
                           .refresh_on_read = row.refresh_on_read,
                           .return_expired = return_expired,
                           .refresh_granularity_ms = row.granularity_ms};
    EXPECT_EQ(policy.OnRead(row.timestamp_ms, row.now_ms), row.outcome);
  }
}

constexpr ReadOutcome kLive = ReadOutcome::kLive;
constexpr ReadOutcome kRefresh = ReadOutcome::kRefresh;
constexpr ReadOutcome kExpired = ReadOutcome::kExpired;

INSTANTIATE_TEST_SUITE_P(
    Rows, TtlPolicyTest,
    ::testing::Values(
        // Row 105, case C05: the boundary.
        PolicyRow{"JustBefore", 100, false, 0, 1000, 1099, kLive},
        PolicyRow{"JustAt", 100, false, 0, 1000, 1100, kExpired},
        PolicyRow{"After", 100, false, 0, 1000, 1101, kExpired},
        // On read and write.
        PolicyRow{"RefreshesYoung", 100, true, 0, 1000, 1001, kRefresh},
        PolicyRow{"RefreshesOld", 100, true, 0, 1000, 1099, kRefresh},
        PolicyRow{"NeverRefreshesExpired", 100, true, 0, 1000, 1100, kExpired},
        PolicyRow{"SameTimeIsNoRefresh", 100, true, 0, 1000, 1000, kLive},
        PolicyRow{"FutureIsNoRefresh", 100, true, 0, 1000, 900, kLive},
        // Refresh granularity: renewed if at least this old.
        PolicyRow{"TooYoungToRefresh", 100, true, 10, 1000, 1009, kLive},
        PolicyRow{"OldEnoughToRefresh", 100, true, 10, 1000, 1010, kRefresh},
        // Row 106.
        PolicyRow{"TimeZero", 100, false, 0, 0, 99, kLive},
        PolicyRow{"TimeZeroExpired", 100, false, 0, 0, 100, kExpired},
        // Row 13, case C02: the sum saturates.
        PolicyRow{"LargestTtl", kMax, false, 0, 10, 50, kLive},
        PolicyRow{"LargestTtlLate", kMax, false, 0, 10, kMax - 1, kLive},
        PolicyRow{"LargestTtlAtEnd", kMax, false, 0, 10, kMax, kExpired},
        // Row 97.
        PolicyRow{"Infinite", kInfiniteTtlMs, false, 0, 0, kMax, kLive},
        PolicyRow{"InfiniteRefreshes", kInfiniteTtlMs, true, 0, 0, kMax,
                  kRefresh},
        PolicyRow{"StampedNever", 100, false, 0, kNeverExpires, kMax, kLive},
        // Rows 94 and 95.
        PolicyRow{"Row94", 4000, false, 0, 1, 4001, kExpired},
        PolicyRow{"Row95Live", 4000, false, 0, 4000, 7999, kLive},
        PolicyRow{"Row95Expired", 4000, false, 0, 4000, 8000, kExpired},
        // Case C08: past 2038.
        PolicyRow{"TwentyYears", 630'720'000'000, false, 0, 1'700'000'000'000,
                  2'330'719'999'999, kLive},
        PolicyRow{"TwentyYearsOver", 630'720'000'000, false, 0,
                  1'700'000'000'000, 2'330'720'000'000, kExpired}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(TtlPolicyWithoutTtlTest, KeepsAllAndNeverAsksTheClock) {
  const TtlPolicy policy;
  EXPECT_FALSE(policy.enabled());
  EXPECT_EQ(policy.Now(), kNeverExpires);
  EXPECT_EQ(policy.OnRead(0, kMax), ReadOutcome::kLive);
}

TEST(TtlPolicyWithExpiredThroughTest, Row134WhatHadExpiredStaysExpired) {
  ShardClock clock(nullptr, ClockReading::kExact);
  const TtlPolicy policy{.rule = {.ttl_ms = 10'000, .expired_through_ms = 500},
                         .clock = &clock};
  clock.AdvanceTo(1600);
  EXPECT_EQ(policy.OnRead(500, 1600), ReadOutcome::kExpired);
  EXPECT_EQ(policy.OnRead(501, 1600), ReadOutcome::kLive);
}

// Case C11: what only a wrong clock calls expired is hidden and kept.
TEST(TtlPolicyJumpTest, CaseC11HidesWhatHasExpiredByAJump) {
  const auto source = std::make_shared<ManualClock>(1000);
  ShardClock clock(source, ClockReading::kExact);
  const TtlPolicy policy{.rule = {.ttl_ms = 100}, .clock = &clock};
  EXPECT_EQ(policy.Now(), 1000);
  source->JumpToMs(1'000'000);
  const TimestampMs now_ms = policy.Now();
  EXPECT_EQ(now_ms, 1'000'000);
  EXPECT_EQ(policy.OnRead(1000, now_ms), ReadOutcome::kHidden);
  EXPECT_EQ(policy.OnRead(900, now_ms), ReadOutcome::kExpired);
  source->JumpToMs(1001);
  EXPECT_EQ(policy.OnRead(1000, policy.Now()), ReadOutcome::kLive);
}

TEST(TtlPolicyNowTest, IsTheShardsTime) {
  const auto source = std::make_shared<ManualClock>(42);
  ShardClock clock(source, ClockReading::kExact);
  const TtlPolicy policy{.rule = {.ttl_ms = 100}, .clock = &clock};
  EXPECT_EQ(policy.Now(), 42);
  source->SetMs(41);
  EXPECT_EQ(policy.Now(), 42);
}

}  // namespace
}  // namespace mayfly::state_internal
