#include "mayfly/state/ttl_config.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/state_descriptor.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Builder = StateTtlConfig::Builder;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Builder OneSecond() {
  return StateTtlConfig::NewBuilder(std::chrono::seconds(1));
}

// What Build() refuses names the field and the value given.
::testing::Matcher<const absl::StatusOr<StateTtlConfig>&> Refuses(
    const std::string& field, const std::string& value) {
  return StatusIs(absl::StatusCode::kInvalidArgument,
                  AllOf(HasSubstr("StateTtlConfig: " + field + " must "),
                        HasSubstr("got " + value)));
}

TEST(TtlConfigTest, Row58Defaults) {
  const StateTtlConfig config = OneSecond().Build().value();
  EXPECT_EQ(config.ttl_ms(), 1000);
  EXPECT_EQ(config.update_type(), UpdateType::kOnCreateAndWrite);
  EXPECT_EQ(config.visibility(), StateVisibility::kNeverReturnExpired);
  EXPECT_EQ(config.time_characteristic(), TimeCharacteristic::kProcessingTime);
  EXPECT_EQ(config.refresh_granularity_ms(), 0);
  EXPECT_FALSE(config.cleanup_full_snapshot());
  EXPECT_TRUE(config.enabled());

  EXPECT_TRUE(config.cleanup_in_background());
  EXPECT_EQ(config.incremental_cleanup(/*default_on=*/true),
            (IncrementalCleanup{.entries_per_access = 5,
                                .run_for_every_record = false}));
  EXPECT_EQ(config.incremental_cleanup(/*default_on=*/false), std::nullopt);
  EXPECT_EQ(config.rocksdb_compact_filter_cleanup(),
            (RocksdbCompactFilterCleanup{.query_time_after_num_entries = 1000,
                                         .periodic_compaction = std::nullopt}));
}

TEST(TtlConfigTest, Row59BackgroundOffTurnsOffTheDefaults) {
  const StateTtlConfig config =
      OneSecond().DisableCleanupInBackground().Build().value();
  EXPECT_FALSE(config.cleanup_in_background());
  EXPECT_EQ(config.incremental_cleanup(true), std::nullopt);
  EXPECT_EQ(config.rocksdb_compact_filter_cleanup(), std::nullopt);
}

TEST(TtlConfigTest, BackgroundOffKeepsWhatWasAskedFor) {
  const StateTtlConfig config = OneSecond()
                                    .CleanupIncrementally(7, true)
                                    .CleanupInRocksdbCompactFilter(11)
                                    .DisableCleanupInBackground()
                                    .Build()
                                    .value();
  EXPECT_EQ(config.incremental_cleanup(false), (IncrementalCleanup{7, true}));
  EXPECT_EQ(config.rocksdb_compact_filter_cleanup(),
            (RocksdbCompactFilterCleanup{11, std::nullopt}));
}

TEST(TtlConfigTest, Row60EntriesPerAccessMustBePositive) {
  EXPECT_THAT(OneSecond().CleanupIncrementally(0, false).Build(),
              Refuses("incremental clean-up", "0"));
  EXPECT_THAT(OneSecond().CleanupIncrementally(-2, true).Build(),
              Refuses("incremental clean-up", "-2"));
  EXPECT_THAT(OneSecond().CleanupIncrementally(1, true).Build(), IsOk());
}

TEST(TtlConfigTest, Row61DescriptorsHaveATtlOnlyIfItIsEnabled) {
  ValueStateDescriptor<int> descriptor("streak");
  EXPECT_EQ(descriptor.ttl(), std::nullopt);
  const StateTtlConfig hour =
      StateTtlConfig::NewBuilder(std::chrono::minutes(60)).Build().value();
  descriptor.EnableTimeToLive(hour);
  EXPECT_EQ(descriptor.ttl(), hour);

  const StateTtlConfig disabled =
      OneSecond().SetUpdateType(UpdateType::kDisabled).Build().value();
  EXPECT_FALSE(disabled.enabled());
  descriptor.EnableTimeToLive(disabled);
  EXPECT_EQ(descriptor.ttl(), std::nullopt);
}

TEST(TtlConfigTest, Row132TtlMustBeAWholePositiveNumberOfMilliseconds) {
  using std::chrono::duration;
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  const auto build = [](auto ttl) {
    return StateTtlConfig::NewBuilder(ttl).Build();
  };
  EXPECT_THAT(build(milliseconds(0)), Refuses("ttl", "0 ms"));
  EXPECT_THAT(build(milliseconds(-1)), Refuses("ttl", "-1 ms"));
  EXPECT_THAT(build(microseconds(1)), Refuses("ttl", "0.001 ms"));
  EXPECT_THAT(build(microseconds(1500)), Refuses("ttl", "1.5 ms"));
  EXPECT_THAT(build(nanoseconds(-1)), Refuses("ttl", "-1e-06 ms"));
  EXPECT_THAT(build(duration<double>(0.0005)), Refuses("ttl", "0.5 ms"));
  EXPECT_THAT(build(duration<double>(std::nan(""))), Refuses("ttl", "nan"));

  EXPECT_EQ(build(microseconds(2000)).value().ttl_ms(), 2);
  EXPECT_EQ(build(duration<double>(0.25)).value().ttl_ms(), 250);
}

TEST(TtlConfigTest, CaseC04HugeTtlsAreExactOrRefused) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto build = [](auto ttl) {
    return StateTtlConfig::NewBuilder(ttl).Build();
  };
  EXPECT_EQ(build(seconds(9223372036854775)).value().ttl_ms(),
            9223372036854775000);
  EXPECT_THAT(build(seconds(9223372036854776)), Refuses("ttl", "9.22337e+18"));
  EXPECT_THAT(build(seconds(10000000000000000)), Refuses("ttl", "1e+19 ms"));
  EXPECT_EQ(build(milliseconds(kMax)).value().ttl_ms(), kMax);
  EXPECT_EQ(build(milliseconds(kMax - 1)).value().ttl_ms(), kMax - 1);
  EXPECT_THAT(build(hours(kMax)), Refuses("ttl", "3.32041e+25 ms"));
  EXPECT_THAT(build(hours(-kMax)), Refuses("ttl", "-3.32041e+25 ms"));
}

TEST(TtlConfigTest, CaseC02InfinityNeverExpires) {
  EXPECT_EQ(StateTtlConfig::NewInfiniteBuilder().Build().value().ttl_ms(),
            kInfiniteTtlMs);
  const std::chrono::duration<double> infinity(
      std::numeric_limits<double>::infinity());
  EXPECT_EQ(StateTtlConfig::NewBuilder(infinity).Build().value().ttl_ms(),
            kInfiniteTtlMs);
  EXPECT_THAT(StateTtlConfig::NewBuilder(-infinity).Build(),
              Refuses("ttl", "-inf"));
}

TEST(TtlConfigTest, RefreshGranularityLiesBetweenZeroAndTheTtl) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  const auto build = [](auto age) {
    return OneSecond()
        .SetUpdateType(UpdateType::kOnReadAndWrite)
        .SetRefreshGranularity(age)
        .Build();
  };
  EXPECT_EQ(build(milliseconds(0)).value().refresh_granularity_ms(), 0);
  EXPECT_EQ(build(milliseconds(1000)).value().refresh_granularity_ms(), 1000);
  EXPECT_THAT(build(milliseconds(1001)),
              Refuses("refresh granularity", "1001 ms"));
  EXPECT_THAT(build(milliseconds(-1)), Refuses("refresh granularity", "-1 ms"));
  EXPECT_THAT(build(microseconds(1)),
              Refuses("refresh granularity", "0.001 ms"));
  EXPECT_THAT(build(std::chrono::duration<double>(
                  std::numeric_limits<double>::infinity())),
              Refuses("refresh granularity", "infinity"));
  EXPECT_THAT(OneSecond().SetRefreshGranularity(milliseconds(1)).Build(),
              Refuses("refresh granularity", "1 ms"));
  EXPECT_EQ(StateTtlConfig::NewInfiniteBuilder()
                .SetUpdateType(UpdateType::kOnReadAndWrite)
                .SetRefreshGranularity(milliseconds(kMax))
                .Build()
                .value()
                .refresh_granularity_ms(),
            kMax);
}

TEST(TtlConfigTest, QueryCountMustNotBeNegative) {
  EXPECT_THAT(OneSecond().CleanupInRocksdbCompactFilter(-1).Build(),
              Refuses("compaction filter", "-1"));
  EXPECT_EQ(OneSecond()
                .CleanupInRocksdbCompactFilter(0)
                .Build()
                .value()
                .rocksdb_compact_filter_cleanup()
                ->query_time_after_num_entries,
            0);
}

TEST(TtlConfigTest, CaseC50PeriodsAreRoundedUpToSecondsAndNeverWrap) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto build = [](auto period) {
    return OneSecond().CleanupInRocksdbCompactFilter(1000, period).Build();
  };
  const auto effective = [&](auto period) {
    return build(period)
        .value()
        .rocksdb_compact_filter_cleanup()
        ->periodic_compaction;
  };
  EXPECT_EQ(effective(milliseconds(1)), seconds(1));
  EXPECT_EQ(effective(milliseconds(500)), seconds(1));
  EXPECT_EQ(effective(milliseconds(1000)), seconds(1));
  EXPECT_EQ(effective(milliseconds(1500)), seconds(2));
  EXPECT_EQ(effective(milliseconds(0)), seconds(0));
  EXPECT_EQ(effective(seconds(4294967295)), seconds(4294967295));

  EXPECT_THAT(build(milliseconds(4294967295001)),
              Refuses("periodic compaction", "4294967295001 ms"));
  EXPECT_THAT(build(milliseconds(kMax)),
              Refuses("periodic compaction", "9223372036854775807 ms"));
  EXPECT_THAT(build(seconds(-1)), Refuses("periodic compaction", "-1000 ms"));
  EXPECT_THAT(build(std::chrono::microseconds(1)),
              Refuses("periodic compaction", "0.001 ms"));
  EXPECT_THAT(build(std::chrono::duration<double>(
                  std::numeric_limits<double>::infinity())),
              Refuses("periodic compaction", "infinity"));
}

TEST(TtlConfigTest, TheLastSettingOfTheCompactionFilterCounts) {
  const StateTtlConfig config =
      OneSecond()
          .CleanupInRocksdbCompactFilter(7, std::chrono::seconds(9))
          .CleanupInRocksdbCompactFilter(8)
          .Build()
          .value();
  EXPECT_EQ(config.rocksdb_compact_filter_cleanup(),
            (RocksdbCompactFilterCleanup{8, std::nullopt}));
}

TEST(TtlConfigTest, SaysItsSettings) {
  EXPECT_EQ(OneSecond().Build().value().ToString(),
            "TTL 1000 ms on create and write, never returning expired, "
            "processing time");
  EXPECT_EQ(
      StateTtlConfig::NewInfiniteBuilder()
          .SetUpdateType(UpdateType::kOnReadAndWrite)
          .SetRefreshGranularity(std::chrono::milliseconds(5))
          .SetStateVisibility(StateVisibility::kReturnExpiredIfNotCleanedUp)
          .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
          .DisableCleanupInBackground()
          .CleanupFullSnapshot()
          .CleanupIncrementally(3, false)
          .CleanupInRocksdbCompactFilter(4)
          .Build()
          .value()
          .ToString(),
      "TTL infinite on read and write, granularity 5 ms, returning "
      "expired if not cleaned up, event time, no default clean-up, full "
      "snapshots cleaned, 3 entries cleaned per access, compaction filter "
      "asking for the time every 4 entries");
}

TEST(TtlConfigTest, ComparesAllSettings) {
  const StateTtlConfig config = OneSecond().Build().value();
  EXPECT_EQ(config, OneSecond().Build().value());
  EXPECT_NE(config, OneSecond().CleanupFullSnapshot().Build().value());
  EXPECT_NE(config, OneSecond().CleanupIncrementally(5, false).Build().value());
  EXPECT_NE(
      config,
      StateTtlConfig::NewBuilder(std::chrono::seconds(2)).Build().value());
}

}  // namespace
}  // namespace mayfly
