// Cases C19, C34, C35 and C43: what walks of maps write, nulls, and removal in
// the middle of a walk.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/cases/five_states.h"
#include "tests/unit/state/raw_database.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::RawDatabase;
using state_test::Read;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Numbers = MapStateDescriptor<std::int32_t, std::int32_t>;
using Texts = MapStateDescriptor<std::string, std::string>;
using Nullable = MapStateDescriptor<std::string, std::optional<std::string>>;
using NullableNumbers =
    MapStateDescriptor<std::string, std::optional<std::int32_t>>;

class MapCasesTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  template <typename Descriptor>
  auto& Map(const StateTtlConfig& ttl) {
    auto& state = shard_.Get(Describe<Descriptor>("map", ttl));
    shard_->SetCurrentKey("k");
    return state;
  }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, MapCasesTest, state_test::AllSetups(),
                         SetupName);

// --- C19: on the database itself ---

class WriteCountTest : public ::testing::Test {
 protected:
  void Register(UpdateType update) {
    list_ = &shard_.Get(
        Describe<ListStateDescriptor<std::string>>("list", Ttl(100, update)));
    map_ = &shard_.Get(Describe<Numbers>("map", Ttl(100, update)));
    shard_->SetCurrentKey("k");
  }
  void Write() {
    Must(list_->AddAll(std::vector<std::string>(1000, "v")));
    for (int i = 0; i < 1000; ++i) Must(map_->Put(i, i));
    shard_.Commit();
  }
  // Records that one full read of the list, and then one of the map, has its
  // commit write, beside the record of the commit.
  std::pair<std::uint64_t, std::uint64_t> WritesOfReads(UpdateType update) {
    const std::uint64_t before = Records();
    Register(update);
    EXPECT_EQ(Read(*list_).size(), 1000u);
    shard_.Commit();
    const std::uint64_t between = Records();
    Register(update);
    EXPECT_EQ(Read(*map_).size(), 1000u);
    shard_.Commit();
    return {between - before - 1, Records() - between - 1};
  }

  Shard<> shard_{state_test::kRocksdb};

 private:
  // How many were ever written. Ends the run and begins the next.
  std::uint64_t Records() {
    shard_.Close();
    const std::uint64_t records =
        RawDatabase(shard_.options.directory).SequenceNumber();
    shard_.Reopen();
    return records;
  }

  ListState<std::string>* list_ = nullptr;
  MapState<std::int32_t, std::int32_t>* map_ = nullptr;
};

TEST_F(WriteCountTest, CaseC19ReadsWriteNoMoreThanTheyRenew) {
  Register(UpdateType::kOnCreateAndWrite);
  Write();
  EXPECT_THAT(WritesOfReads(UpdateType::kOnReadAndWrite), Pair(0, 0))
      << "at the time of the stamps";
  shard_.clock().SetMs(50);
  EXPECT_THAT(WritesOfReads(UpdateType::kOnCreateAndWrite), Pair(0, 0));
  EXPECT_THAT(WritesOfReads(UpdateType::kOnReadAndWrite), Pair(1, 1000));
}

// --- C34 and C35: nulls ---

TEST_P(MapCasesTest, CaseC34NullEmptyAndFullValuesGoAtTheSameInstant) {
  auto& map = Map<Nullable>(Ttl(100));
  Must(map.Put("a", std::nullopt));
  Must(map.Put("b", ""));
  Must(map.Put("c", "x"));
  At(99);
  RemoveExpired(shard_);
  shard_->SetCurrentKey("k");
  for (const char* const key : {"a", "b", "c"}) {
    EXPECT_THAT(map.Contains(key), IsOkAndHolds(true)) << key;
  }
  EXPECT_THAT(Read(map), ElementsAre(Pair("a", std::nullopt), Pair("b", ""),
                                     Pair("c", "x")));
  EXPECT_EQ(*map.Get("a").value(), std::nullopt);
  EXPECT_EQ(*map.Get("b").value(), "");

  At(100);
  RemoveExpired(shard_);  // Before any read.
  EXPECT_EQ(shard_.StoredEntries("map"), 0u);
  shard_->SetCurrentKey("k");
  EXPECT_THAT(map.Contains("a"), IsOkAndHolds(false));
  EXPECT_EQ(map.Get("b").value(), nullptr);
  EXPECT_THAT(Read(map), IsEmpty());
}

// A shorter TTL after the restart tells that the stored times are the same.
TEST_P(MapCasesTest, CaseC35NullsAndTheirTimesSurviveARestart) {
  At(500);
  auto& map = Map<NullableNumbers>(Ttl(INT64_MAX));
  Must(map.Put("a", std::nullopt));
  Must(map.Put("b", 1));
  Must(map.Put("c", std::nullopt));
  for (int restart = 0; restart < 2; ++restart) {
    shard_.Commit();
    shard_.Reopen();
    At(1499);
    EXPECT_THAT(
        Read(Map<NullableNumbers>(Ttl(restart == 0 ? INT64_MAX : 1000))),
        ElementsAre(Pair("a", std::nullopt), Pair("b", 1),
                    Pair("c", std::nullopt)));
    for (const char* const key : {"a", "b", "c"}) {
      EXPECT_THAT(Map<NullableNumbers>(Ttl(restart == 0 ? INT64_MAX : 1000))
                      .Contains(key),
                  IsOkAndHolds(true));
    }
  }
  At(1500);
  EXPECT_THAT(Read(Map<NullableNumbers>(Ttl(1000))), IsEmpty());
}

// --- C43: removal in the middle of a walk ---

TEST_P(MapCasesTest, CaseC43WhatIsRemovedIsWhatTheWalkStandsAt) {
  auto* map = &Map<Texts>(Ttl(100));
  Must(map->Put("a", "0"));
  At(100);
  Must(map->Put("b", "100"));
  Must(map->Put("c", "100"));
  shard_.Commit();
  At(150);
  shard_->SetCurrentKey("k");
  MapRange<std::string, std::string> range = map->Entries().value();
  const auto refused = StatusIs(absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(range.RemoveCurrent(), refused);  // Before the walk.
  const auto end = range.end();
  for (auto at = range.begin(); at != end; ++at) {
    const std::string key = (*at).key;
    EXPECT_TRUE(at != end);  // Looking whether there is more moves nothing.
    if (key != "b") continue;
    EXPECT_THAT(range.RemoveCurrent(), IsOk());
    EXPECT_THAT(range.RemoveCurrent(), refused);
  }
  EXPECT_THAT(range.RemoveCurrent(), refused);  // At the end.
  EXPECT_THAT(range.status(), IsOk());
  EXPECT_THAT(Read(*map), ElementsAre(Pair("c", "100")));
  EXPECT_EQ(shard_.CommittedEntries("map"), 1u);
  shard_.Reopen();
  EXPECT_THAT(Read(Map<Texts>(Ttl(100))), ElementsAre(Pair("c", "100")));
}

// The walk itself removes what it shows although it has expired.
TEST_P(MapCasesTest, CaseC43ExpiredEntriesThatAreShownMayBeRemovedToo) {
  auto& map = Map<Texts>(Ttl(100, UpdateType::kOnCreateAndWrite,
                             StateVisibility::kReturnExpiredIfNotCleanedUp));
  Must(map.Put("a", "0"));
  At(100);
  Must(map.Put("b", "100"));
  shard_.Commit();
  At(150);
  shard_->SetCurrentKey("k");
  MapRange<std::string, std::string> range = map.Entries().value();
  std::vector<std::string> walked;
  for (const auto& [key, value] : range) {
    walked.push_back(key);
    Must(range.RemoveCurrent());
  }
  EXPECT_THAT(range.status(), IsOk());
  EXPECT_THAT(walked, ::testing::UnorderedElementsAre("a", "b"));
  EXPECT_THAT(map.IsEmpty(), IsOkAndHolds(true));
  EXPECT_EQ(shard_.CommittedEntries("map"), 0u);
}

// A map of this size is streamed from the database, not read whole.
TEST_P(MapCasesTest, CaseC43EveryOtherEntryOfALargeMapIsRemoved) {
  for (const UpdateType update :
       {UpdateType::kOnCreateAndWrite, UpdateType::kOnReadAndWrite}) {
    auto* map = &Map<Numbers>(Ttl(100, update));
    for (int i = 0; i < 1000; ++i) Must(map->Put(i, i));
    shard_.Commit();
    shard_.Reopen();
    map = &Map<Numbers>(Ttl(100, update));
    for (int i = 1; i < 1000; i += 3) Must(map->Put(i, -i));  // Not committed.
    shard_.clock().Advance(std::chrono::milliseconds(50));

    MapRange<std::int32_t, std::int32_t> range = map->Entries().value();
    int walked = 0;
    for (const auto& [key, value] : range) {
      ++walked;
      EXPECT_EQ(value, key % 3 == 1 ? -key : key);
      if (key % 2 == 0) Must(range.RemoveCurrent());
    }
    Must(range.status());
    EXPECT_EQ(walked, 1000);
    for (const bool committed : {false, true}) {
      if (committed) shard_.Commit();
      const auto left = Read(*map);
      EXPECT_EQ(left.size(), 500u);
      for (const auto& [key, value] : left) EXPECT_EQ(key % 2, 1);
    }
    EXPECT_EQ(shard_.StoredEntries("map"), 500u);
    shard_.Reopen();
  }
}

}  // namespace
}  // namespace mayfly::cases
