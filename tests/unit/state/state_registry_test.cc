#include "state/state_registry.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly::state_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

StateTtlConfig::Builder Builder(std::int64_t ttl_ms) {
  return StateTtlConfig::NewBuilder(std::chrono::milliseconds(ttl_ms));
}

StateTtlConfig Ttl(std::int64_t ttl_ms) {
  return Builder(ttl_ms).Build().value();
}

StateSpec Streak() {
  return {.name = "streak",
          .kind = StateKind::kValue,
          .key_serializer = {"string", 1},
          .value_serializer = {"int64", 1},
          .map_key_serializer = {},
          .ttl = {}};
}

StateSpec StreakWithTtl(const StateTtlConfig& ttl) {
  StateSpec spec = Streak();
  spec.ttl = ttl;
  return spec;
}

StateSpec Destinations() {
  StateSpec spec = Streak();
  spec.name = "destinations";
  spec.kind = StateKind::kMap;
  spec.map_key_serializer = {"string", 1};
  return spec;
}

v1::CommitRecord CommitAt(std::int64_t processing_ms, std::int64_t event_ms) {
  v1::CommitRecord commit;
  commit.set_sequence(1);
  commit.set_processing_clock_ms(processing_ms);
  commit.set_event_clock_ms(event_ms);
  return commit;
}

absl::StatusOr<v1::StateRecord> Restore(const StateSpec& stored,
                                        const StateSpec& asked) {
  return Reconcile(NewRecord(stored), asked, CommitAt(1500, 700), "/dir");
}

// A refusal names the state, both sides and the way out.
::testing::Matcher<const absl::StatusOr<v1::StateRecord>&> RefusesMigration(
    const std::string& state, const std::string& stored,
    const std::string& asked) {
  return StatusIs(
      absl::StatusCode::kFailedPrecondition,
      AllOf(HasSubstr("StateMigration: state '" + state + "' is stored with"),
            HasSubstr(stored + " and asked for with " + asked + ";"),
            HasSubstr("start with the old setting")));
}

TEST(StateNameTest, MayBeAnythingThatATopicsNameMayBe) {
  EXPECT_THAT(CheckStateName("streak"), IsOk());
  EXPECT_THAT(CheckStateName("A.b_c-9"), IsOk());
  EXPECT_THAT(CheckStateName("defaults"), IsOk());
  EXPECT_THAT(CheckStateName(std::string(200, 'n')), IsOk());
}

TEST(StateNameTest, MayNotBeAnythingElse) {
  const std::string nul("a\0b", 3);
  for (const std::string& name :
       {std::string(), std::string(201, 'n'), std::string("default"),
        std::string("a b"), std::string("a/b"),
        std::string("stra\xc3\x9f"
                    "e"),
        nul}) {
    EXPECT_THAT(CheckStateName(name),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("'" + name + "'"),
                               HasSubstr("1 to 200 letters"))));
  }
}

TEST(NewRecordTest, HoldsWhatGivesBytesTheirMeaning) {
  const v1::StateRecord plain = NewRecord(Streak());
  EXPECT_EQ(plain.name(), "streak");
  EXPECT_EQ(plain.kind(), v1::STATE_KIND_VALUE);
  EXPECT_EQ(plain.key_serializer().name(), "string");
  EXPECT_EQ(plain.value_serializer().name(), "int64");
  EXPECT_EQ(plain.value_serializer().version(), 1u);
  EXPECT_FALSE(plain.has_map_key_serializer());
  EXPECT_FALSE(plain.has_ttl());

  const v1::StateRecord map = NewRecord(Destinations());
  EXPECT_EQ(map.kind(), v1::STATE_KIND_MAP);
  EXPECT_EQ(map.map_key_serializer().name(), "string");

  const v1::StateRecord expiring = NewRecord(StreakWithTtl(Ttl(1000)));
  EXPECT_EQ(expiring.ttl().ttl_ms(), 1000);
  EXPECT_EQ(expiring.ttl().expired_through_ms(), kMin);
  EXPECT_EQ(expiring.ttl().time_characteristic(),
            v1::TIME_CHARACTERISTIC_PROCESSING);
  EXPECT_EQ(RuleOf(expiring), (ExpiryRule{.ttl_ms = 1000}));

  const v1::StateRecord event = NewRecord(
      StreakWithTtl(Builder(1000)
                        .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
                        .Build()
                        .value()));
  EXPECT_EQ(event.ttl().time_characteristic(), v1::TIME_CHARACTERISTIC_EVENT);
}

TEST(ReconcileTest, TheSameIsTheSame) {
  for (const StateSpec& spec :
       {Streak(), Destinations(), StreakWithTtl(Ttl(1000))}) {
    const auto restored = Restore(spec, spec);
    ASSERT_THAT(restored, IsOk());
    EXPECT_EQ(restored->SerializeAsString(),
              NewRecord(spec).SerializeAsString());
  }
}

TEST(ReconcileTest, WhatOnlySteersReadsAndCleanUpMayChange) {
  const auto restored = Restore(
      StreakWithTtl(Ttl(1000)),
      StreakWithTtl(
          Builder(1000)
              .SetUpdateType(UpdateType::kOnReadAndWrite)
              .SetStateVisibility(StateVisibility::kReturnExpiredIfNotCleanedUp)
              .DisableCleanupInBackground()
              .CleanupIncrementally(9, true)
              .Build()
              .value()));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(restored->ttl().ttl_ms(), 1000);
  EXPECT_EQ(restored->ttl().expired_through_ms(), kMin);
}

TEST(ReconcileTest, Row134LongerTtlKeepsWhatHadExpiredGone) {
  // The commit was at 1500: under 1000 ms all up to 500 had expired.
  const auto restored =
      Restore(StreakWithTtl(Ttl(1000)), StreakWithTtl(Ttl(10'000)));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(RuleOf(*restored),
            (ExpiryRule{.ttl_ms = 10'000, .expired_through_ms = 500}));
}

TEST(ReconcileTest, Row134ShorterTtlActsAtOnce) {
  const auto restored =
      Restore(StreakWithTtl(Ttl(10'000)), StreakWithTtl(Ttl(1000)));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(RuleOf(*restored),
            (ExpiryRule{.ttl_ms = 1000, .expired_through_ms = -8500}));
}

TEST(ReconcileTest, OnceExpiredIsExpiredThroughLaterChangesToo) {
  v1::StateRecord record = NewRecord(StreakWithTtl(Ttl(1000)));
  record =
      Reconcile(record, StreakWithTtl(Ttl(50'000)), CommitAt(1500, 0), "/dir")
          .value();
  record =
      Reconcile(record, StreakWithTtl(Ttl(90'000)), CommitAt(1600, 0), "/dir")
          .value();
  EXPECT_EQ(RuleOf(record),
            (ExpiryRule{.ttl_ms = 90'000, .expired_through_ms = 500}));
}

TEST(ReconcileTest, AnInfiniteTtlMayTakeOverAndBeReplaced) {
  const StateTtlConfig infinite =
      StateTtlConfig::NewInfiniteBuilder().Build().value();
  const auto to_infinite =
      Restore(StreakWithTtl(Ttl(1000)), StreakWithTtl(infinite));
  ASSERT_THAT(to_infinite, IsOk());
  EXPECT_EQ(RuleOf(*to_infinite),
            (ExpiryRule{.ttl_ms = kInfiniteTtlMs, .expired_through_ms = 500}));
  const auto to_finite =
      Restore(StreakWithTtl(infinite), StreakWithTtl(Ttl(1000)));
  ASSERT_THAT(to_finite, IsOk());
  EXPECT_EQ(RuleOf(*to_finite),
            (ExpiryRule{.ttl_ms = 1000, .expired_through_ms = kMin}));
}

TEST(ReconcileTest, EventTimeGoesByTheWatermarkOfTheCommit) {
  const auto event = [](std::int64_t ttl_ms) {
    return StreakWithTtl(
        Builder(ttl_ms)
            .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
            .Build()
            .value());
  };
  const auto restored = Restore(event(600), event(5000));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(restored->ttl().expired_through_ms(), 100);
}

TEST(ReconcileTest, Rows30And31SwitchingTtlOnOrOffIsRefusedUnlessAllowed) {
  EXPECT_THAT(Restore(Streak(), StreakWithTtl(Ttl(1000))),
              RefusesMigration("streak", "no TTL", "a TTL"));
  EXPECT_THAT(Restore(StreakWithTtl(Ttl(1000)), Streak()),
              RefusesMigration("streak", "a TTL", "no TTL"));
}

TEST(ReconcileTest, AllowedItBecomesWhatIsAskedFor) {
  StateSpec with = StreakWithTtl(Ttl(1000));
  StateSpec without = Streak();
  with.migration.ttl_allowed = true;
  without.migration.ttl_allowed = true;
  const auto on = Restore(without, with);
  ASSERT_THAT(on, IsOk());
  EXPECT_EQ(on->ttl().ttl_ms(), 1000);
  // Whatever is stored is stamped with a later time.
  EXPECT_EQ(on->ttl().expired_through_ms(), kMin);
  const auto off = Restore(with, without);
  ASSERT_THAT(off, IsOk());
  EXPECT_FALSE(off->has_ttl());
}

TEST(ReconcileTest, AnOlderVersionIsAskedForIfItCanBeRead) {
  v1::StateRecord stored = NewRecord(Streak());
  stored.mutable_value_serializer()->set_version(4);
  stored.set_column_family("streak~2");
  StateSpec asked = Streak();
  asked.value_serializer.version = 5;
  asked.migration.reserialize = [](std::uint32_t, std::string_view,
                                   std::string&) { return absl::OkStatus(); };
  asked.migration.oldest_version = 4;
  const auto reconcile = [&] {
    return Reconcile(stored, asked, CommitAt(0, 0), "/dir");
  };
  const auto read = reconcile();
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->value_serializer().version(), 5u);
  EXPECT_EQ(read->column_family(), "streak~2");
  asked.migration.oldest_version = 5;
  EXPECT_THAT(reconcile(), RefusesMigration("streak", "int64@4", "int64@5"));
  stored.mutable_value_serializer()->set_version(6);
  EXPECT_THAT(reconcile(), RefusesMigration("streak", "int64@6", "int64@5"));
}

TEST(ReconcileTest, AnotherClockIsRefused) {
  EXPECT_THAT(Restore(StreakWithTtl(Ttl(1000)),
                      StreakWithTtl(Builder(1000)
                                        .SetTimeCharacteristic(
                                            TimeCharacteristic::kEventTime)
                                        .Build()
                                        .value())),
              RefusesMigration("streak", "processing time", "event time"));
}

TEST(ReconcileTest, AnotherKindIsRefused) {
  StateSpec list = Streak();
  list.kind = StateKind::kList;
  EXPECT_THAT(Restore(Streak(), list),
              RefusesMigration("streak", "value", "list"));
}

TEST(ReconcileTest, OtherSerializersAreRefused) {
  StateSpec asked = Destinations();
  asked.value_serializer.version = 2;
  EXPECT_THAT(Restore(Destinations(), asked),
              RefusesMigration("destinations", "the value serializer int64@1",
                               "int64@2"));
  asked = Destinations();
  asked.key_serializer.name = "int32";
  EXPECT_THAT(Restore(Destinations(), asked),
              RefusesMigration("destinations", "the key serializer string@1",
                               "int32@1"));
  asked = Destinations();
  asked.map_key_serializer->name = "bool";
  EXPECT_THAT(Restore(Destinations(), asked),
              RefusesMigration("destinations",
                               "the map key serializer string@1", "bool@1"));
}

// A record of a newer version may hold a kind that this one does not know.
TEST(ReconcileTest, AnUnknownKindIsRefusedAndNotTakenForAnother) {
  v1::StateRecord record = NewRecord(Streak());
  record.set_kind(static_cast<v1::StateKind>(99));
  EXPECT_THAT(Reconcile(record, Streak(), CommitAt(0, 0), "/dir"),
              RefusesMigration("streak", "an unknown kind", "value"));
}

TEST(StateSpecTest, SaysWhatItIs) {
  EXPECT_EQ(Streak().ToString(),
            "value state, key string@1, value int64@1, no TTL");
  StateSpec map = Destinations();
  map.ttl = Ttl(1000);
  EXPECT_EQ(map.ToString(),
            "map state, key string@1, map key string@1, value int64@1, " +
                Ttl(1000).ToString());
}

}  // namespace
}  // namespace mayfly::state_internal
