// Rows about calls that only maps or only lists have.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/conformance/carriage.h"
#include "tests/conformance/ttls.h"
#include "tests/unit/state/shard_set.h"

namespace mayfly::conformance {
namespace {

using state_test::Must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Nullable = std::optional<std::int32_t>;
using Numbers = MapState<std::int32_t, Nullable>;

// One key, at which each test writes at 0; then the state is carried.
class CollectionRowsTest : public ::testing::TestWithParam<
                               std::tuple<state_test::BackendSetup, Carriage>> {
 protected:
  CollectionRowsTest() { Must(shards_.Open()); }

  template <typename Descriptor>
  auto& Get(const Descriptor& descriptor) {
    const std::size_t here = shards_.ShardOf(kKey);
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      if (i != here) Must(shards_[i].GetState(descriptor).status());
    }
    shards_[here].SetCurrentKey(kKey);
    return *shards_[here].GetState(descriptor).value();
  }
  Numbers& Register(const StateTtlConfig& ttl) {
    return Get(state_test::Describe<MapStateDescriptor<std::int32_t, Nullable>>(
        "map", ttl));
  }

  // Commits, and goes on wherever the variant says.
  void CommitAndCarry() {
    Must(shards_.Commit());
    Carry(std::get<Carriage>(GetParam()), shards_);
  }

  std::uint64_t CommittedEntries(const std::string& state) {
    Must(shards_.Commit());
    const StateStatistics counts = shards_.Counts(state);
    return counts.live_entries + counts.expired_entries;
  }

  const std::string kKey = "key";
  state_test::ShardSet<std::string> shards_{
      {std::get<state_test::BackendSetup>(GetParam())}, /*now_ms=*/0};
};

INSTANTIATE_TEST_SUITE_P(Setups, CollectionRowsTest,
                         ::testing::Combine(state_test::AllSetups(),
                                            ::testing::ValuesIn(kCarriages)),
                         [](const auto& at) {
                           return std::string(std::get<0>(at.param).name) +
                                  "_" + NameOf(std::get<1>(at.param));
                         });

TEST_P(CollectionRowsTest, Row112AMapOfExpiredEntriesIsEmpty) {
  Must(Register(Suite()).Put(1, 10));
  CommitAndCarry();
  Numbers& state = Register(Suite());
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(false));
  shards_.clock().SetMs(100);
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
}

TEST_P(CollectionRowsTest, Row113ContainsRenews) {
  Must(Register(Suite(kReadsToo)).Put(1, 10));
  Must(shards_.Commit());
  shards_.clock().SetMs(60);
  EXPECT_THAT(Register(Suite(kReadsToo)).Contains(1), IsOkAndHolds(true));
  CommitAndCarry();
  Must(shards_.Open());
  shards_.clock().SetMs(159);
  EXPECT_THAT(Register(Suite()).Contains(1), IsOkAndHolds(true));
  shards_.clock().SetMs(160);
  EXPECT_THAT(Register(Suite()).Contains(1), IsOkAndHolds(false));
}

TEST_P(CollectionRowsTest, Row113ContainsIsTrueOnceForAnExpiredEntry) {
  Must(Register(Suite(kWrites, kReturn)).Put(1, 10));
  CommitAndCarry();
  Numbers& state = Register(Suite(kWrites, kReturn));
  shards_.clock().SetMs(100);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(true));
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(false));
  EXPECT_EQ(CommittedEntries("map"), 0u);
}

TEST_P(CollectionRowsTest, Row115AWalkRemovesTheEntryAtWhichItStands) {
  for (std::int32_t key = 0; key < 300; ++key) {
    Must(Register(Suite()).Put(key, key));
  }
  CommitAndCarry();
  Numbers& state = Register(Suite());
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
  EXPECT_EQ(CommittedEntries("map"), 100u);
}

TEST_P(CollectionRowsTest,
       Row115ARemovalWithoutAnEntryIsRefusedAndChangesNothing) {
  const auto refused = StatusIs(absl::StatusCode::kFailedPrecondition);
  Must(Register(Suite()).Put(1, 10));
  Must(Register(Suite()).Put(2, 20));
  CommitAndCarry();
  Numbers& state = Register(Suite());
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
  const auto list =
      state_test::Describe<ListStateDescriptor<std::int32_t>>("list", Suite());
  Must(Get(list).AddAll({}));
  EXPECT_EQ(CommittedEntries("list"), 0u);
  Must(Get(list).Add(1));
  CommitAndCarry();
  ListState<std::int32_t>& state = Get(list);
  Must(state.AddAll({}));
  EXPECT_THAT(state_test::Read(state), ElementsAre(1));
  Must(state.Update({}));
  EXPECT_THAT(state_test::Read(state), IsEmpty());
  EXPECT_EQ(CommittedEntries("list"), 0u);
}

TEST_P(CollectionRowsTest, Row117ANullValueIsAPresentEntryAndExpires) {
  Must(Register(Suite()).Put(1, std::nullopt));
  CommitAndCarry();
  Numbers& state = Register(Suite());
  shards_.clock().SetMs(99);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(true));
  const Nullable* const value = state.Get(1).value();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, std::nullopt);
  shards_.clock().SetMs(100);
  EXPECT_THAT(state.Contains(1), IsOkAndHolds(false));
  EXPECT_EQ(state.Get(1).value(), nullptr);
}

}  // namespace
}  // namespace mayfly::conformance
