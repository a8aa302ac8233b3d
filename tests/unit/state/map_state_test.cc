#include "mayfly/state/map_state.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Texts = MapStateDescriptor<std::string, std::string>;
using Nullable = MapStateDescriptor<std::string, std::optional<std::string>>;

constexpr UpdateType kReadToo = UpdateType::kOnReadAndWrite;
constexpr StateVisibility kShowExpired =
    StateVisibility::kReturnExpiredIfNotCleanedUp;

class MapStateTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  template <typename Descriptor = Texts>
  auto& Map(UpdateType update = UpdateType::kOnCreateAndWrite,
            StateVisibility visibility = StateVisibility::kNeverReturnExpired) {
    auto& state =
        shard_.Get(Describe<Descriptor>("map", Ttl(100, update, visibility)));
    shard_->SetCurrentKey("k");
    return state;
  }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, MapStateTest, AllSetups(), SetupName);

TEST_P(MapStateTest, HoldsEntriesPerKey) {
  auto& state = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("a");
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  Must(state.Put("x", "1"));
  Must(state.Put("y", "2"));
  Must(state.Put("x", "3"));
  shard_->SetCurrentKey("b");
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  EXPECT_THAT(Read(state), IsEmpty());
  Must(state.Put("x", "4"));
  shard_.Commit();
  shard_->SetCurrentKey("a");
  EXPECT_EQ(Read(state, std::string("x")), "3");
  EXPECT_EQ(Read(state, std::string("z")), std::nullopt);
  EXPECT_THAT(state.Contains("y"), IsOkAndHolds(true));
  EXPECT_THAT(state.Contains("z"), IsOkAndHolds(false));
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(false));
  EXPECT_THAT(Read(state), ElementsAre(Pair("x", "3"), Pair("y", "2")));
  EXPECT_EQ(shard_.CommittedEntries("map"), 3u);
}

TEST_P(MapStateTest, RemovesAndClears) {
  auto& state = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("a");
  Must(state.Remove("x"));
  Must(state.Clear());
  for (const char* const key : {"x", "y", "z"}) Must(state.Put(key, "1"));
  shard_.Commit();
  Must(state.Remove("x"));
  EXPECT_THAT(state.Contains("x"), IsOkAndHolds(false));
  EXPECT_THAT(Read(state), ElementsAre(Pair("y", "1"), Pair("z", "1")));
  shard_.Commit();
  EXPECT_THAT(Read(state), ElementsAre(Pair("y", "1"), Pair("z", "1")));
  Must(state.Clear());
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  Must(state.Put("w", "2"));
  EXPECT_THAT(Read(state), ElementsAre(Pair("w", "2")));
  EXPECT_EQ(shard_.CommittedEntries("map"), 1u);
  EXPECT_THAT(Read(state), ElementsAre(Pair("w", "2")));
  Must(state.Remove("w"));
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

// Changes made before a Clear must not come after it.
TEST_P(MapStateTest, ClearedTwiceWithChangesBetweenKeepsTheLast) {
  auto& state = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("a");
  Must(state.Put("x", "1"));
  Must(state.Put("y", "1"));
  shard_.Commit();
  Must(state.Put("x", "2"));
  Must(state.Clear());
  Must(state.Put("x", "3"));
  Must(state.Clear());
  Must(state.Put("x", "4"));
  Must(state.Put("z", "4"));
  Must(state.Remove("z"));
  shard_.Commit();
  EXPECT_EQ(shard_.StoredEntries("map"), 1u);
  EXPECT_THAT(Read(state), ElementsAre(Pair("x", "4")));
  shard_.Reopen();
  auto& restored = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("a");
  EXPECT_THAT(Read(restored), ElementsAre(Pair("x", "4")));
}

TEST_P(MapStateTest, WithoutACurrentKeyNothingWorks) {
  auto& state = shard_.Get(Texts("map"));
  const auto refuses =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("state 'map'"), HasSubstr("SetCurrentKey")));
  EXPECT_THAT(state.Get("x"), refuses);
  EXPECT_THAT(state.Contains("x"), refuses);
  EXPECT_THAT(state.Put("x", "1"), refuses);
  EXPECT_THAT(state.Remove("x"), refuses);
  EXPECT_THAT(state.Entries(), refuses);
  EXPECT_THAT(state.IsEmpty(), refuses);
  EXPECT_THAT(state.Clear(), refuses);
}

TEST_P(MapStateTest, WithoutTtlNothingExpires) {
  auto& state = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("a");
  Must(state.Put("x", "1"));
  At(std::numeric_limits<std::int64_t>::max());
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(Read(state, std::string("x")), "1");
}

TEST_P(MapStateTest, EntriesExpireOneByOne) {
  auto& state = Map();
  Must(state.Put("a", "0"));
  At(50);
  Must(state.Put("b", "50"));
  shard_.Commit();
  At(100);
  EXPECT_EQ(Read(state, std::string("a")), std::nullopt);
  EXPECT_THAT(Read(state), ElementsAre(Pair("b", "50")));
  EXPECT_EQ(shard_.CommittedEntries("map"), 1u);
  At(150);
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

TEST_P(MapStateTest, CaseC14NoCallSeesAnExpiredEntry) {
  for (const bool committed : {false, true}) {
    SCOPED_TRACE(committed);
    Shard<> shard(GetParam());
    auto& state = shard.Get(Describe<Texts>("map", Ttl(100)));
    const auto fill = [&](const std::string& key) {
      shard->SetCurrentKey(key);
      shard.clock().SetMs(0);
      Must(state.Put("a", "0"));
    };
    fill("get");
    fill("contains");
    fill("entries");
    fill("empty");
    shard.clock().SetMs(50);
    for (const char* const key : {"get", "contains", "entries", "empty"}) {
      shard->SetCurrentKey(key);
      Must(state.Put("b", "50"));
    }
    if (committed) shard.Commit();

    shard.clock().SetMs(120);
    shard->SetCurrentKey("get");
    EXPECT_EQ(Read(state, std::string("a")), std::nullopt);
    EXPECT_EQ(Read(state, std::string("b")), "50");
    shard->SetCurrentKey("contains");
    EXPECT_THAT(state.Contains("a"), IsOkAndHolds(false));
    EXPECT_THAT(state.Contains("b"), IsOkAndHolds(true));
    shard->SetCurrentKey("entries");
    EXPECT_THAT(Read(state), ElementsAre(Pair("b", "50")));
    shard->SetCurrentKey("empty");
    EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(false));

    shard.clock().SetMs(160);
    for (const char* const key : {"get", "contains", "entries", "empty"}) {
      shard->SetCurrentKey(key);
      EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true)) << key;
      EXPECT_THAT(Read(state), IsEmpty()) << key;
    }
    EXPECT_EQ(shard.CommittedEntries("map"), 0u);
  }
}

TEST_P(MapStateTest, Row112AMapOfExpiredEntriesIsEmpty) {
  auto& never = Map();
  Must(never.Put("a", "0"));
  shard_.Commit();
  At(100);
  EXPECT_THAT(never.IsEmpty(), IsOkAndHolds(true));
}

TEST_P(MapStateTest, Row112AMapOfExpiredEntriesThatMayBeSeenIsNot) {
  auto& shown = Map(UpdateType::kOnCreateAndWrite, kShowExpired);
  Must(shown.Put("a", "0"));
  shard_.Commit();
  At(100);
  EXPECT_THAT(shown.IsEmpty(), IsOkAndHolds(false));
  EXPECT_THAT(Read(shown), ElementsAre(Pair("a", "0")));
  EXPECT_THAT(shown.IsEmpty(), IsOkAndHolds(true));
}

TEST_P(MapStateTest, Row113ContainsRenews) {
  auto& state = Map(kReadToo);
  Must(state.Put("a", "0"));
  shard_.Commit();
  At(60);
  EXPECT_THAT(state.Contains("a"), IsOkAndHolds(true));
  At(159);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(Map(kReadToo).Contains("a"), IsOkAndHolds(true));
}

TEST_P(MapStateTest, Row113ContainsIsTrueOnceForAnExpiredEntry) {
  auto& state = Map(UpdateType::kOnCreateAndWrite, kShowExpired);
  Must(state.Put("a", "0"));
  shard_.Commit();
  At(100);
  EXPECT_THAT(state.Contains("a"), IsOkAndHolds(true));
  EXPECT_THAT(state.Contains("a"), IsOkAndHolds(false));
  EXPECT_EQ(Read(state, std::string("a")), std::nullopt);
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

TEST_P(MapStateTest, Row114WalkingRenewsWhatItWalks) {
  auto& state = Map(kReadToo);
  Must(state.Put("a", "0"));
  Must(state.Put("b", "0"));
  shard_.Commit();
  At(60);
  EXPECT_THAT(Read(state), ElementsAre(Pair("a", "0"), Pair("b", "0")));
  shard_.Commit();
  shard_.Reopen();
  auto& restored = Map(kReadToo);
  At(159);
  EXPECT_THAT(Read(restored), ElementsAre(Pair("a", "0"), Pair("b", "0")));
}

// Only what was reached is renewed or removed.
TEST_P(MapStateTest, AWalkThatIsGivenUpTreatsWhatItReached) {
  auto& state = Map(kReadToo);
  for (const char* const key : {"a", "b", "c"}) Must(state.Put(key, "0"));
  shard_.Commit();
  At(60);
  auto range = state.Entries().value();
  EXPECT_TRUE(range.begin() != range.end());  // One entry renewed.
  EXPECT_THAT(range.status(), IsOk());
  At(110);
  EXPECT_EQ(Read(state).size(), 1u);
}

TEST_P(MapStateTest, IsEmptyRenewsNothing) {
  auto& state = Map(kReadToo);
  Must(state.Put("a", "0"));
  At(60);
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(false));
  At(100);
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
}

TEST_P(MapStateTest, Row117ANullValueIsAPresentEntry) {
  auto& state = Map<Nullable>();
  Must(state.Put("a", std::nullopt));
  shard_.Commit();
  At(99);
  const std::optional<std::string>* const value = state.Get("a").value();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, std::nullopt);
  EXPECT_THAT(state.Contains("a"), IsOkAndHolds(true));
  At(100);
  EXPECT_EQ(state.Get("a").value(), nullptr);
  EXPECT_THAT(state.Contains("a"), IsOkAndHolds(false));
}

TEST_P(MapStateTest, CaseC34NullEmptyAndFullValuesExpireAlike) {
  auto& state = Map<Nullable>();
  Must(state.Put("a", std::nullopt));
  Must(state.Put("b", ""));
  Must(state.Put("c", "x"));
  shard_.Commit();
  At(99);
  EXPECT_THAT(Read(state), ElementsAre(Pair("a", std::nullopt), Pair("b", ""),
                                       Pair("c", "x")));
  At(100);
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

TEST_P(MapStateTest, CaseC35NullValuesSurviveARestart) {
  auto& state = shard_.Get(
      MapStateDescriptor<std::string, std::optional<std::int32_t>>("plain"));
  shard_->SetCurrentKey("k");
  Must(state.Put("a", std::nullopt));
  Must(state.Put("b", 1));
  shard_.Commit();
  shard_.Reopen();
  auto& restored = shard_.Get(
      MapStateDescriptor<std::string, std::optional<std::int32_t>>("plain"));
  shard_->SetCurrentKey("k");
  EXPECT_THAT(Read(restored),
              ElementsAre(Pair("a", std::nullopt), Pair("b", 1)));
}

TEST_P(MapStateTest, CaseC38BinaryMapKeysAreWhole) {
  auto& state = Map();
  const std::string keys[] = {std::string("a\0b", 3), "a",
                              std::string("a\0", 2), std::string("\0", 1), ""};
  for (const std::string& key : keys) Must(state.Put(key, key + "\0"));
  shard_.Commit();
  shard_.Reopen();
  auto& restored = Map();
  Must(restored.Remove("a"));
  shard_.Commit();
  for (const std::string& key : keys) {
    EXPECT_EQ(Read(restored, key),
              key == "a" ? std::nullopt : std::optional(key + "\0"));
  }
  EXPECT_EQ(Read(restored).size(), 4u);
}

TEST_P(MapStateTest, CaseC40ClearingAMapLeavesItsNeighboursAlone) {
  auto& state = Map();
  const std::string keys[] = {"\x03\xAA\xFF", "\x03\xAB\x10", "\xFF\xFF",
                              std::string("\xFF\xFF\0", 3), "\xFF"};
  for (const std::string& key : keys) {
    shard_->SetCurrentKey(key);
    for (char i = '0'; i <= '9'; ++i) {
      Must(state.Put(std::string("\xFF\xFF") + i, std::string(1, i)));
    }
  }
  shard_.Commit();
  shard_.Reopen();
  auto& restored = Map();
  for (const int cleared : {0, 2}) {
    shard_->SetCurrentKey(keys[cleared]);
    Must(restored.Clear());
  }
  shard_.Commit();
  for (int i = 0; i < 5; ++i) {
    shard_->SetCurrentKey(keys[i]);
    EXPECT_EQ(Read(restored).size(), i == 0 || i == 2 ? 0u : 10u) << i;
  }
  EXPECT_EQ(shard_.StoredEntries("map"), 30u);
}

TEST_P(MapStateTest, GranularityBoundsHowOftenReadsRenew) {
  auto& state = shard_.Get(Describe<Texts>(
      "map", TtlBuilder(100)
                 .SetUpdateType(kReadToo)
                 .SetRefreshGranularity(std::chrono::milliseconds(50))
                 .Build()
                 .value()));
  shard_->SetCurrentKey("k");
  Must(state.Put("young", "0"));
  Must(state.Put("old", "0"));
  At(49);
  EXPECT_EQ(Read(state, std::string("young")), "0");
  At(50);
  EXPECT_EQ(Read(state, std::string("old")), "0");
  At(149);
  EXPECT_THAT(Read(state), ElementsAre(Pair("old", "0")));
}

// A key that is an argument may be what the call before it returned, which
// this call moves, removes or overwrites.
TEST_P(MapStateTest, KeysMayReferToWhatWasReturned) {
  auto& state = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("k");
  const auto name = [](int i) {
    return "a name that does not fit into the string " + std::to_string(i);
  };
  for (int i = 0; i < 200; ++i) Must(state.Put(name(i), name(i + 1)));
  shard_.Commit();
  // From each to the next, and insertions that make the table grow.
  std::string at = name(0);
  const std::string* next = &at;
  for (int i = 0; i < 200; ++i) {
    next = state.Get(*next).value();
    ASSERT_NE(next, nullptr) << i;
    ASSERT_EQ(*next, name(i + 1));
  }
  for (int i = 199; i >= 0; --i) {
    const std::string* const value = state.Get(name(i)).value();
    Must(state.Put(*value, *value));
  }
  for (int i = 1; i <= 200; ++i) {
    ASSERT_EQ(Read(state, name(i)), name(i)) << i;
  }
  for (int i = 1; i <= 200; ++i) {
    Must(state.Remove(*state.Get(name(i)).value()));
  }
  EXPECT_EQ(Read(state),
            (std::map<std::string, std::string>{{name(0), name(1)}}));
  // The current key and a commit's position may be, too.
  shard_->SetCurrentKey(*state.Get(name(0)).value());
  Must(state.Put("a", name(7)));
  shard_.Commit(*state.Get("a").value());
  EXPECT_EQ(shard_->committed_position(), name(7));
  shard_->SetCurrentKey(name(1));
  EXPECT_EQ(Read(state, std::string("a")), name(7));
}

TEST_P(MapStateTest, AnExpiredEntryMayBeNamedByItself) {
  auto& state = shard_.Get(Describe<Texts>(
      "map", Ttl(100, UpdateType::kOnCreateAndWrite,
                 StateVisibility::kReturnExpiredIfNotCleanedUp)));
  shard_->SetCurrentKey("k");
  Must(state.Put("self", "self"));
  Must(state.Put("", "other", std::chrono::milliseconds(500)));
  const std::string* const self = state.Get("self").value();
  shard_.clock().SetMs(450);
  EXPECT_EQ(*state.Get(*self).value(), "self");
  EXPECT_EQ(Read(state, std::string("self")), std::nullopt);
  EXPECT_EQ(Read(state, std::string()), "other");
}

TEST_P(MapStateTest, ARangeThatWasMovedFromIsEmptyAndSaysSo) {
  auto& state = shard_.Get(Texts("map"));
  shard_->SetCurrentKey("k");
  Must(state.Put("a", "1"));
  MapRange<std::string, std::string> range = state.Entries().value();
  const MapRange<std::string, std::string> moved = std::move(range);
  EXPECT_THAT(moved.status(), IsOk());
  EXPECT_FALSE(range.begin() !=
               range.end());  // NOLINT(bugprone-use-after-move)
  const auto refuses =
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("moved from"));
  EXPECT_THAT(range.status(), refuses);
  EXPECT_THAT(range.RemoveCurrent(), refuses);
}

}  // namespace
}  // namespace mayfly::state_test
