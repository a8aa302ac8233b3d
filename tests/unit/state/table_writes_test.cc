// What commits write to the store, and what reads make them write.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/state/internal/list_table.h"
#include "mayfly/state/internal/map_table.h"
#include "mayfly/state/internal/value_table.h"
#include "tests/unit/state/fake_store.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Value = TableOverFake<state_internal::ValueTable<std::string, int>>;
using List = TableOverFake<state_internal::ListTable<std::string, std::string>>;
using Numbers =
    TableOverFake<state_internal::ListTable<std::string, std::int64_t>>;
using Map = TableOverFake<state_internal::MapTable<std::string, int, int>>;

constexpr Writes kNothing{};

// --- Values ---

TEST(ValueWritesTest, HoweverOftenAKeyChangesItIsWrittenOnce) {
  Value value(100);
  value.SetKey("k");
  for (int i = 0; i < 10; ++i) Must(value->Update(i));
  EXPECT_EQ(value.Commit(), (Writes{.puts = 1}));
  EXPECT_EQ(value.Commit(), kNothing);
  Must(value->Clear());
  EXPECT_EQ(value.Commit(), (Writes{.deletes = 1}));
}

TEST(ValueWritesTest, CaseC19ReadsThatRenewNothingWriteNothing) {
  Value value(100);
  value.SetKey("k");
  Must(value->Update(1));
  value.Commit();
  value.EvictAll();
  value.At(50);
  EXPECT_EQ(Read<int>(*value), 1);
  value.SetKey("absent");
  EXPECT_EQ(Read<int>(*value), std::nullopt);
  EXPECT_EQ(value.Commit(), kNothing);
}

TEST(ValueWritesTest, CaseC19ReadsThatRenewWriteOncePerTime) {
  Value value(100, /*refresh_on_read=*/true);
  value.SetKey("k");
  Must(value->Update(1));
  value.Commit();
  EXPECT_EQ(Read<int>(*value), 1);  // At the time of its stamp.
  EXPECT_EQ(value.Commit(), kNothing);
  value.At(50);
  EXPECT_EQ(Read<int>(*value), 1);
  EXPECT_EQ(Read<int>(*value), 1);
  EXPECT_EQ(value.Commit(), (Writes{.puts = 1}));
}

TEST(ValueWritesTest, AnExpiredValueThatARunReadsIsDeletedOnce) {
  Value value(100);
  value.SetKey("k");
  Must(value->Update(1));
  value.Commit();
  value.At(100);
  EXPECT_EQ(Read<int>(*value), std::nullopt);
  EXPECT_EQ(Read<int>(*value), std::nullopt);
  EXPECT_EQ(value.Commit(), (Writes{.deletes = 1}));
  EXPECT_EQ(value.Commit(), kNothing);
}

TEST(ValueWritesTest, CommittedValuesAreReadFromTheTableUntilEvicted) {
  Value value(100);
  value.SetKey("k");
  Must(value->Update(1));
  value.Commit();
  EXPECT_EQ(Read<int>(*value), 1);
  EXPECT_EQ(value.store.reads, 0);
  value.EvictAll();
  EXPECT_EQ(Read<int>(*value), 1);
  EXPECT_EQ(Read<int>(*value), 1);
  EXPECT_EQ(value.store.reads, 1);
}

TEST(ValueWritesTest, WhatIsNotCommittedIsNotEvicted) {
  Value value(100);
  value.SetKey("k");
  Must(value->Update(1));
  value.EvictAll();
  EXPECT_EQ(Read<int>(*value), 1);
  EXPECT_EQ(value.Commit(), (Writes{.puts = 1}));
}

// --- Lists ---

TEST(ListWritesTest, AddingReadsNothingAndAppends) {
  List list(100);
  list.SetKey("k");
  Must(list->Add("1"));
  EXPECT_EQ(list.Commit(), (Writes{.merges = 1}));
  Must(list->AddAll({"2", "3"}));
  Must(list->Add("4"));
  EXPECT_EQ(list.Commit(), (Writes{.merges = 1}));
  EXPECT_EQ(list.store.reads, 0);
  EXPECT_THAT(Read<std::string>(*list), ElementsAre("1", "2", "3", "4"));
  // Known now, and still appended to.
  Must(list->Add("5"));
  EXPECT_EQ(list.Commit(), (Writes{.merges = 1}));
  EXPECT_EQ(list.Commit(), kNothing);
}

TEST(ListWritesTest, ReplacingPutsAndClearingDeletes) {
  List list(100);
  list.SetKey("k");
  Must(list->Add("1"));
  Must(list->Update({"2"}));
  Must(list->Add("3"));
  EXPECT_EQ(list.Commit(), (Writes{.puts = 1}));
  Must(list->Clear());
  EXPECT_EQ(list.Commit(), (Writes{.deletes = 1}));
  EXPECT_EQ(list.store.reads, 0);
}

TEST(ListWritesTest, CaseC19ReadingAThousandElementsWritesNothing) {
  List list(100);
  list.SetKey("k");
  Must(list->AddAll(std::vector<std::string>(1000, "v")));
  list.Commit();
  list.EvictAll();
  list.At(50);
  EXPECT_THAT(Read<std::string>(*list), SizeIs(1000));
  EXPECT_EQ(list.Commit(), kNothing);
}

TEST(ListWritesTest, CaseC19RenewingAThousandElementsIsOnePut) {
  List list(100, /*refresh_on_read=*/true);
  list.SetKey("k");
  Must(list->AddAll(std::vector<std::string>(1000, "v")));
  list.Commit();
  list.At(50);
  EXPECT_THAT(Read<std::string>(*list), SizeIs(1000));
  EXPECT_EQ(list.Commit(), (Writes{.puts = 1}));
  EXPECT_THAT(Read<std::string>(*list), SizeIs(1000));
  EXPECT_EQ(list.Commit(), kNothing);
}

// One expired element in a long list is not worth writing it anew; half of them
// is, and none of them ever comes back.
TEST(ListWritesTest, ALongListIsNotRewrittenForEveryElementThatExpires) {
  Numbers list(100);
  list.SetKey("k");
  for (int i = 0; i < 100; ++i) {
    list.At(i);
    Must(list->Add(i));
  }
  list.Commit();
  int rewrites = 0;
  for (int now_ms = 100; now_ms < 200; ++now_ms) {
    list.At(now_ms);
    const std::vector<std::int64_t> live = Read<std::int64_t>(*list);
    ASSERT_EQ(live.size(), static_cast<std::size_t>(199 - now_ms));
    if (!live.empty()) {
      ASSERT_EQ(live.front(), now_ms - 99);
    }
    const Writes writes = list.Commit();
    rewrites += writes.puts;
    if (now_ms % 10 == 0) list.EvictAll();
  }
  EXPECT_GE(rewrites, 1);
  EXPECT_LE(rewrites, 25);
  EXPECT_TRUE(list.store.records.empty());
}

TEST(ListWritesTest, AListInManyPiecesIsPutTogetherByWhoReadsIt) {
  Numbers list(100);
  list.SetKey("k");
  for (int i = 0; i < 20; ++i) {
    Must(list->Add(i));
    list.Commit();
  }
  EXPECT_EQ(list.store.records["k"].merge_operands, 20u);
  EXPECT_THAT(Read<std::int64_t>(*list), SizeIs(20));
  EXPECT_EQ(list.Commit(), (Writes{.puts = 1}));
  EXPECT_EQ(list.store.records["k"].merge_operands, 0u);
  EXPECT_THAT(Read<std::int64_t>(*list), SizeIs(20));
  EXPECT_EQ(list.Commit(), kNothing);
}

// A list that is known is written anew now and then while it grows.
TEST(ListWritesTest, AKnownListNeverLiesInTooManyPieces) {
  Numbers list(100);
  list.SetKey("k");
  Must(list->Add(0));
  list.Commit();
  EXPECT_THAT(Read<std::int64_t>(*list), SizeIs(1));
  for (int i = 1; i < 100; ++i) {
    Must(list->Add(i));
    list.Commit();
    ASSERT_LE(list.store.records["k"].merge_operands, 17u);
  }
  list.EvictAll();
  EXPECT_THAT(Read<std::int64_t>(*list), SizeIs(100));
}

TEST(ListWritesTest, CaseC23AnElementThatExpiredBetweenLiveOnesIsHidden) {
  for (const bool as_operands : {false, true}) {
    Numbers list(100);
    std::string& stored = list.store.records["k"].bytes;
    for (const auto& [value, timestamp_ms] :
         {std::pair(1, 100), std::pair(2, 0), std::pair(3, 100)}) {
      AppendListElement(
          timestamp_ms,
          std::string("\0\0\0\0\0\0\0", 7) + static_cast<char>(value), stored);
    }
    if (as_operands) list.store.records["k"].merge_operands = 3;
    list.SetKey("k");
    list.At(150);
    EXPECT_THAT(Read<std::int64_t>(*list), ElementsAre(1, 3));
    list.Commit();
    list.EvictAll();
    EXPECT_THAT(Read<std::int64_t>(*list), ElementsAre(1, 3));
  }
}

// --- Maps ---

TEST(MapWritesTest, OnlyChangedEntriesAreWritten) {
  Map map(100);
  map.SetKey("k");
  for (int i = 0; i < 100; ++i) Must(map->Put(i, i));
  Must(map->Put(5, 50));
  EXPECT_EQ(map.Commit(), (Writes{.puts = 100}));
  Must(map->Put(7, 70));
  Must(map->Remove(8));
  EXPECT_EQ(map.Commit(), (Writes{.puts = 1, .deletes = 1}));
  EXPECT_EQ(map.Commit(), kNothing);
}

TEST(MapWritesTest, CaseC19ReadingAThousandEntriesWritesNothing) {
  Map map(100);
  map.SetKey("k");
  for (int i = 0; i < 1000; ++i) Must(map->Put(i, i));
  map.Commit();
  map.EvictAll();
  map.At(50);
  EXPECT_THAT((Read<int, int>(*map)), SizeIs(1000));
  EXPECT_EQ(Read(*map, 7), 7);
  EXPECT_EQ(Read(*map, 7777), std::nullopt);
  EXPECT_EQ(map.Commit(), kNothing);
}

TEST(MapWritesTest, CaseC19RenewingAThousandEntriesIsAThousandPuts) {
  Map map(100, /*refresh_on_read=*/true);
  map.SetKey("k");
  for (int i = 0; i < 1000; ++i) Must(map->Put(i, i));
  map.Commit();
  map.EvictAll();
  EXPECT_THAT((Read<int, int>(*map)), SizeIs(1000));
  EXPECT_EQ(map.Commit(), kNothing);  // At the time of their stamps.
  map.At(50);
  EXPECT_THAT((Read<int, int>(*map)), SizeIs(1000));
  EXPECT_THAT((Read<int, int>(*map)), SizeIs(1000));
  EXPECT_EQ(map.Commit(), (Writes{.puts = 1000}));
}

TEST(MapWritesTest, ClearingDeletesWhatIsStoredAndKeepsWhatCameAfter) {
  Map map(100);
  map.SetKey("k");
  for (int i = 0; i < 10; ++i) Must(map->Put(i, i));
  map.SetKey("other");
  Must(map->Put(1, 1));
  map.Commit();
  map.SetKey("k");
  Must(map->Put(10, 10));  // Never stored.
  Must(map->Clear());
  Must(map->Put(3, 33));
  map.Commit();
  EXPECT_EQ(map.store.records.size(), 2u);
  EXPECT_THAT((Read<int, int>(*map)), ElementsAre(std::pair(3, 33)));
  map.EvictAll();
  EXPECT_THAT((Read<int, int>(*map)), ElementsAre(std::pair(3, 33)));
}

TEST(MapWritesTest, ExpiredEntriesThatAWalkMeetsAreDeletedOnce) {
  Map map(100);
  map.SetKey("k");
  for (int i = 0; i < 10; ++i) Must(map->Put(i, i));
  map.At(50);
  for (int i = 10; i < 15; ++i) Must(map->Put(i, i));
  map.Commit();
  map.EvictAll();
  map.At(100);
  EXPECT_THAT((Read<int, int>(*map)), SizeIs(5));
  EXPECT_THAT((Read<int, int>(*map)), SizeIs(5));
  EXPECT_EQ(map.Commit(), (Writes{.deletes = 10}));
}

}  // namespace
}  // namespace mayfly::state_test
