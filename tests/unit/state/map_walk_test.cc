// Walks over maps that are read whole (up to 256 stored entries) and over
// larger ones, which are streamed from the store while changes to them wait in
// the table.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Numbers = MapStateDescriptor<std::int32_t, std::int32_t>;
using Model = std::map<std::int32_t, std::int32_t>;

using Param = std::tuple<BackendSetup, int>;

class MapWalkTest : public ::testing::TestWithParam<Param> {
 protected:
  int size() const { return std::get<1>(GetParam()); }

  MapState<std::int32_t, std::int32_t>& Map(
      UpdateType update = UpdateType::kOnCreateAndWrite,
      StateVisibility visibility = StateVisibility::kNeverReturnExpired) {
    auto& state =
        shard_.Get(Describe<Numbers>("map", Ttl(100, update, visibility)));
    shard_->SetCurrentKey("k");
    return state;
  }

  // Commits entries i to 10 i, the odd ones at time 0 and the even ones at 50.
  Model Fill(MapState<std::int32_t, std::int32_t>& state) {
    Model model;
    for (int i = 1; i < size(); i += 2) Must(state.Put(i, model[i] = 10 * i));
    shard_.clock().SetMs(50);
    for (int i = 0; i < size(); i += 2) Must(state.Put(i, model[i] = 10 * i));
    shard_.Commit();
    return model;
  }

  // A table that knows nothing of what is stored.
  MapState<std::int32_t, std::int32_t>& Restarted(
      UpdateType update = UpdateType::kOnCreateAndWrite,
      StateVisibility visibility = StateVisibility::kNeverReturnExpired) {
    shard_.Commit();
    shard_.Reopen();
    return Map(update, visibility);
  }

  static Model Even(Model model) {
    std::erase_if(model,
                  [](const auto& entry) { return entry.first % 2 == 1; });
    return model;
  }

  Shard<> shard_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(
    Sizes, MapWalkTest,
    ::testing::Combine(SomeSetups(), ::testing::Values(1, 256, 257, 700)),
    [](const ::testing::TestParamInfo<Param>& at) {
      return std::string(std::get<0>(at.param).name) +
             std::to_string(std::get<1>(at.param));
    });

TEST_P(MapWalkTest, YieldsEveryStoredEntryOnce) {
  const Model model = Fill(Map());
  auto& state = Restarted();
  EXPECT_EQ(Read(state), model);
  EXPECT_EQ(Read(state), model);
}

TEST_P(MapWalkTest, SeesChangesThatWait) {
  Model model = Fill(Map());
  auto& state = Restarted();
  for (int i = 0; i < size(); i += 5) {
    if (i % 2 == 0) {
      Must(state.Put(i, model[i] = -i));
    } else {
      Must(state.Remove(i));
      model.erase(i);
    }
  }
  for (int i = size(); i < size() + 10; ++i) {
    Must(state.Put(i, model[i] = i));
  }
  EXPECT_EQ(Read(state), model);
  EXPECT_EQ(Read(state), model);
  shard_.Commit();
  EXPECT_EQ(Read(state), model);
  EXPECT_EQ(Read(Restarted()), model);
}

TEST_P(MapWalkTest, SkipsExpiredEntriesAndRemovesThem) {
  const Model model = Fill(Map());
  auto& state = Restarted();
  shard_.clock().SetMs(100);
  EXPECT_EQ(Read(state), Even(model));
  EXPECT_EQ(shard_.CommittedEntries("map"), Even(model).size());
  EXPECT_EQ(Read(state), Even(model));
  shard_.clock().SetMs(150);
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

TEST_P(MapWalkTest, ReturnsExpiredEntriesOnce) {
  constexpr auto kWrite = UpdateType::kOnCreateAndWrite;
  constexpr auto kShow = StateVisibility::kReturnExpiredIfNotCleanedUp;
  const Model model = Fill(Map(kWrite, kShow));
  auto& state = Restarted(kWrite, kShow);
  shard_.clock().SetMs(100);
  EXPECT_EQ(Read(state), model);
  EXPECT_EQ(Read(state), Even(model));
  EXPECT_EQ(Read(Restarted(kWrite, kShow)), Even(model));
}

TEST_P(MapWalkTest, RenewsLiveEntriesAndRemovesExpiredOnes) {
  constexpr auto kReadToo = UpdateType::kOnReadAndWrite;
  const Model model = Fill(Map(kReadToo));
  auto& state = Restarted(kReadToo);
  shard_.clock().SetMs(100);
  EXPECT_EQ(Read(state), Even(model));
  shard_.clock().SetMs(199);
  EXPECT_EQ(Read(Restarted(kReadToo)), Even(model));
}

TEST_P(MapWalkTest, ClearsWhatIsStoredAndWhatWaits) {
  Fill(Map());
  auto& state = Restarted();
  Must(state.Put(-1, -1));
  Must(state.Clear());
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  Must(state.Put(7, 7));
  EXPECT_THAT(Read(state), ElementsAre(Pair(7, 7)));
  EXPECT_EQ(shard_.CommittedEntries("map"), 1u);
  EXPECT_THAT(Read(state), ElementsAre(Pair(7, 7)));
}

TEST_P(MapWalkTest, IsEmptyLooksBeyondRemovedAndExpiredEntries) {
  Fill(Map());
  auto& state = Restarted();
  shard_.clock().SetMs(100);  // The odd ones have expired.
  for (int i = 0; i < size() - 2; i += 2) Must(state.Remove(i));
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(false));
  for (int i = 0; i < size(); i += 2) Must(state.Remove(i));
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  EXPECT_THAT(Read(state), IsEmpty());
}

// Looking one entry up before the walk puts it into the table, and only it.
TEST_P(MapWalkTest, EntriesLookedUpBeforeAreNotYieldedTwice) {
  const Model model = Fill(Map());
  auto& state = Restarted();
  for (int i = 0; i < size(); i += 3) {
    EXPECT_EQ(Read(state, i), std::optional(10 * i));
  }
  EXPECT_EQ(Read(state), model);
}

TEST_P(MapWalkTest, RemovesTheEntryItStandsAt) {
  Model model = Fill(Map());
  auto& state = Restarted();
  MapRange<std::int32_t, std::int32_t> range = state.Entries().value();
  for (const auto& [key, value] : range) {
    if (key % 3 == 0) {
      model.erase(key);
      ASSERT_THAT(range.RemoveCurrent(), IsOk());
    }
  }
  ASSERT_THAT(range.status(), IsOk());
  EXPECT_EQ(Read(state), model);
  EXPECT_EQ(shard_.CommittedEntries("map"), model.size());
  EXPECT_EQ(Read(Restarted()), model);
}

TEST_P(MapWalkTest, RemovesAllEntriesAndThenTheMap) {
  Fill(Map());
  auto& state = Restarted();
  MapRange<std::int32_t, std::int32_t> range = state.Entries().value();
  for (const auto& entry : range) {
    static_cast<void>(entry);
    ASSERT_THAT(range.RemoveCurrent(), IsOk());
  }
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

// Case C43, row 115: by what the walk stands at, whatever was looked at ahead.
TEST_P(MapWalkTest, CaseC43RemovesNothingWhereItStandsAtNothing) {
  const Model model = Fill(Map());
  auto& state = Restarted();
  const auto refuses = StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("stands at no entry"));
  MapRange<std::int32_t, std::int32_t> range = state.Entries().value();
  EXPECT_THAT(range.RemoveCurrent(), refuses);
  auto at = range.begin();
  const std::int32_t first = (*at).key;
  EXPECT_THAT(range.RemoveCurrent(), IsOk());
  EXPECT_THAT(range.RemoveCurrent(), refuses);
  while (at != range.end()) ++at;
  EXPECT_THAT(range.RemoveCurrent(), refuses);
  EXPECT_THAT(range.status(), IsOk());
  Model left = model;
  left.erase(first);
  EXPECT_EQ(Read(state), left);
}

// Expired ones are removed by the walk itself, which the second time is OK.
TEST_P(MapWalkTest, RemovesExpiredEntriesThatItShows) {
  constexpr auto kWrite = UpdateType::kOnCreateAndWrite;
  constexpr auto kShow = StateVisibility::kReturnExpiredIfNotCleanedUp;
  Fill(Map(kWrite, kShow));
  auto& state = Restarted(kWrite, kShow);
  shard_.clock().SetMs(150);
  MapRange<std::int32_t, std::int32_t> range = state.Entries().value();
  int shown = 0;
  for (const auto& entry : range) {
    static_cast<void>(entry);
    ++shown;
    ASSERT_THAT(range.RemoveCurrent(), IsOk());
  }
  EXPECT_EQ(shown, size());
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

// Leaves no empty map behind, though the walk stops at the first entry.
TEST_P(MapWalkTest, StopsEarlyAtWhatIsTheLastEntry) {
  auto& state = Map(UpdateType::kOnCreateAndWrite,
                    StateVisibility::kReturnExpiredIfNotCleanedUp);
  Must(state.Put(1, 1));
  shard_.clock().SetMs(100);
  {
    MapRange<std::int32_t, std::int32_t> range = state.Entries().value();
    EXPECT_EQ((*range.begin()).value, 1);
  }
  EXPECT_THAT(state.IsEmpty(), IsOkAndHolds(true));
  shard_.Commit();
  EXPECT_EQ(shard_->CleanUp()->entries_checked, 0u);
}

// Everything that ends what a state has returned ends its walks too.
TEST_P(MapWalkTest, EndsWithAnErrorWhenTheStateIsUsedMeanwhile) {
  const Model model = Fill(Map());
  auto& state = Restarted();
  const std::function<void()> uses[] = {
      [&] { Must(state.Put(-1, -1)); },
      [&] { Must(state.Remove(-1)); },
      [&] { Must(state.Get(0).status()); },
      [&] { Must(state.IsEmpty().status()); },
      [&] { Must(state.Entries().status()); },
      [&] { shard_->SetCurrentKey("k"); },
      [&] { shard_.Commit(); },
      [&] { Must(shard_->CleanUp().status()); },
  };
  for (const std::function<void()>& use : uses) {
    MapRange<std::int32_t, std::int32_t> range = state.Entries().value();
    auto at = range.begin();
    ASSERT_THAT(range.status(), IsOk());
    use();
    ++at;
    EXPECT_FALSE(at != range.end());
    const auto disturbed = StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr("RemoveCurrent()"));
    EXPECT_THAT(range.status(), disturbed);
    EXPECT_THAT(range.RemoveCurrent(), disturbed);
  }
  EXPECT_EQ(Read(state), model);
}

}  // namespace
}  // namespace mayfly::state_test
