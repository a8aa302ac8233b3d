// Rows about calls that only maps or only lists have.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/conformance/ttls.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::conformance {
namespace {

using state_test::Must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Nullable = std::optional<std::int32_t>;
using Numbers = MapState<std::int32_t, Nullable>;

// One key, at which each test writes at 0.
class CollectionRowsTest
    : public ::testing::TestWithParam<state_test::BackendSetup> {
 protected:
  Numbers& Register(const StateTtlConfig& ttl) {
    auto& state = shard_.Get(
        state_test::Describe<MapStateDescriptor<std::int32_t, Nullable>>("map",
                                                                         ttl));
    shard_->SetCurrentKey("key");
    return state;
  }

  state_test::Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, CollectionRowsTest, state_test::AllSetups(),
                         state_test::SetupName);

TEST_P(CollectionRowsTest, Row112AMapOfExpiredEntriesIsEmpty) {
  Numbers& state = Register(Suite());
  Must(state.Put(1, 10));
  shard_.Commit();
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(false));
  shard_.clock().SetMs(100);
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
}

TEST_P(CollectionRowsTest, Row113ContainsRenews) {
  Numbers& state = Register(Suite(kReadsToo));
  Must(state.Put(1, 10));
  shard_.Commit();
  shard_.clock().SetMs(60);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(true));
  shard_.Commit();
  shard_.Reopen();
  shard_.clock().SetMs(159);
  EXPECT_THAT(Register(Suite()).Contains(1), IsOkAndHolds(true));
  shard_.clock().SetMs(160);
  EXPECT_THAT(Register(Suite()).Contains(1), IsOkAndHolds(false));
}

TEST_P(CollectionRowsTest, Row113ContainsIsTrueOnceForAnExpiredEntry) {
  Numbers& state = Register(Suite(kWrites, kReturn));
  Must(state.Put(1, 10));
  shard_.Commit();
  shard_.clock().SetMs(100);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(true));
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(false));
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

TEST_P(CollectionRowsTest, Row115AWalkRemovesTheEntryAtWhichItStands) {
  Numbers& state = Register(Suite());
  for (std::int32_t key = 0; key < 300; ++key) Must(state.Put(key, key));
  shard_.Commit();
  auto range = state.Entries().value();
  for (const auto& [key, value] : range) {
    if (key % 3 != 0) {
      ASSERT_THAT(range.RemoveCurrent(), IsOk());
    }
  }
  ASSERT_THAT(range.status(), IsOk());
  const auto left = state_test::Read(state);
  EXPECT_EQ(left.size(), 100u);
  for (const auto& [key, value] : left) EXPECT_EQ(key % 3, 0);
  EXPECT_EQ(shard_.CommittedEntries("map"), 100u);
}

TEST_P(CollectionRowsTest,
       Row115ARemovalWithoutAnEntryIsRefusedAndChangesNothing) {
  const auto refused = StatusIs(absl::StatusCode::kFailedPrecondition);
  Numbers& state = Register(Suite());
  Must(state.Put(1, 10));
  Must(state.Put(2, 20));
  shard_.Commit();
  auto range = state.Entries().value();
  EXPECT_THAT(range.RemoveCurrent(), refused);  // Before the first.
  auto at = range.begin();
  const std::int32_t removed = (*at).key;
  ASSERT_THAT(range.RemoveCurrent(), IsOk());
  EXPECT_THAT(range.RemoveCurrent(), refused);  // Twice.
  ++at;
  ++at;
  EXPECT_FALSE(at != range.end());
  EXPECT_THAT(range.RemoveCurrent(), refused);  // Behind the last.
  const std::int32_t kept = 3 - removed;
  EXPECT_THAT(state_test::Read(state), ElementsAre(Pair(kept, 10 * kept)));
}

// putAll(null) and addAll(null) cannot be said; an empty collection can.
TEST_P(CollectionRowsTest, Row116EmptyCollectionsAddNothingAndClear) {
  auto& state = shard_.Get(
      state_test::Describe<ListStateDescriptor<std::int32_t>>("list", Suite()));
  shard_->SetCurrentKey("key");
  Must(state.AddAll({}));
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
  Must(state.Add(1));
  Must(state.AddAll({}));
  EXPECT_THAT(state_test::Read(state), ElementsAre(1));
  Must(state.Update({}));
  EXPECT_THAT(state_test::Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
}

TEST_P(CollectionRowsTest, Row117ANullValueIsAPresentEntryAndExpires) {
  Numbers& state = Register(Suite());
  Must(state.Put(1, std::nullopt));
  shard_.Commit();
  shard_.clock().SetMs(99);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(true));
  const Nullable* const value = state.Get(1).value();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, std::nullopt);
  shard_.clock().SetMs(100);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(false));
  EXPECT_EQ(state.Get(1).value(), nullptr);
}

}  // namespace
}  // namespace mayfly::conformance
