// Removing the newest version of a key must not uncover an older one. Each test
// gives the older version the later timestamp, as if a clock had stepped back
// between the two writes, so that what is uncovered would look live.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

constexpr TimestampMs kNow = 200;
constexpr TimestampMs kOld = 0;     // Expired at kNow.
constexpr TimestampMs kLate = 150;  // Live at kNow.

TEST(ResurrectionTest, ExpiredPutOverAnOlderPutBecomesATombstone) {
  TestDatabase database(EntryLayout::kValue);
  database.PutAtLevel(kLastLevel, "k", Entry(kLate, "older"));
  database.Put("k", Entry(kOld, "newest"));
  database.Flush();
  database.clock().now_ms = kNow;

  database.CompactLevels({0}, 1);
  EXPECT_EQ(database.Get("k"), std::nullopt);
  EXPECT_EQ(database.Raw(), (RawCounts{.values = 1, .tombstones = 1}));

  database.CompactAll();
  EXPECT_EQ(database.Get("k"), std::nullopt);
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ResurrectionTest, ExpiredPutOverNothingLeavesNoTombstone) {
  TestDatabase database(EntryLayout::kValue);
  database.PutAtLevel(kLastLevel, "other", Entry(kLate));
  database.Put("k", Entry(kOld));
  database.Flush();
  database.clock().now_ms = kNow;

  database.CompactLevels({0}, 1);
  EXPECT_EQ(database.Raw(), RawCounts{.values = 1});
  EXPECT_EQ(database.FilesAtLevel(1), 0);
}

TEST(ResurrectionTest, FlushesAreNotFiltered) {
  TestDatabase database(EntryLayout::kValue);
  database.clock().now_ms = kNow;
  for (int i = 0; i < 1000; ++i) {
    database.Put("k" + std::to_string(i), Entry(kOld));
  }
  database.Flush();
  EXPECT_EQ(database.Raw(), RawCounts{.values = 1000});
  EXPECT_EQ(database.ttl().counters().passes, 0);
}

TEST(ResurrectionTest, ThousandExpiredOverThousandOlderAreAllHidden) {
  TestDatabase database(EntryLayout::kValue);
  for (const TimestampMs timestamp : {kLate, kOld}) {
    for (int i = 0; i < 1000; ++i) {
      database.Put("k" + std::to_string(i), Entry(timestamp));
    }
    database.Flush();
    if (timestamp == kLate) database.CompactLevels({0}, kLastLevel);
  }
  database.clock().now_ms = kNow;

  database.CompactLevels({0}, 1);
  EXPECT_EQ(database.Raw(), (RawCounts{.values = 1000, .tombstones = 1000}));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(database.Get("k" + std::to_string(i)), std::nullopt);
  }
}

// A list is the sum of its pieces: losing an expired piece shows what the
// others hold, and should.
TEST(ResurrectionTest, ExpiredOperandGoesWithoutHidingTheBase) {
  TestDatabase database(EntryLayout::kList);
  database.PutAtLevel(kLastLevel, "k", Element(kLate, "base"));
  database.Append("k", Element(kOld, "operand"));
  database.Flush();
  database.clock().now_ms = kNow;

  database.CompactLevels({0}, 1);
  EXPECT_EQ(database.Get("k"), Element(kLate, "base"));
  EXPECT_EQ(database.Raw(), RawCounts{.values = 1});
}

TEST(ResurrectionTest, LiveOperandOverExpiredBaseSurvivesEveryLaterPass) {
  TestDatabase database(EntryLayout::kList);
  database.PutAtLevel(kLastLevel, "k", Element(kOld, "base"));
  database.Append("k", Element(kLate, "live"));
  database.Append("k", Element(kOld, "expired"));
  database.Flush();
  database.clock().now_ms = kNow;

  for (int pass = 0; pass < 3; ++pass) {
    database.CompactLevels({0, kLastLevel}, kLastLevel);
    EXPECT_EQ(database.Get("k"), Element(kLate, "live"));
    EXPECT_EQ(database.Raw(), RawCounts{.values = 1});
  }
}

TEST(ResurrectionTest, ExpiredBaseAndOperandsGoInOnePass) {
  TestDatabase database(EntryLayout::kList);
  database.PutAtLevel(kLastLevel, "k", Element(kOld, "base"));
  database.Append("k", Element(kOld, "a"));
  database.Append("k", Element(kOld, "b"));
  database.Flush();
  database.clock().now_ms = kNow;

  database.CompactLevels({0, kLastLevel}, kLastLevel);
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ResurrectionTest, DeleteBelowAnExpiredOperandStillHides) {
  TestDatabase database(EntryLayout::kList);
  database.PutAtLevel(kLastLevel, "k", Element(kLate, "deleted"));
  database.Delete("k");
  database.Append("k", Element(kOld, "operand"));
  database.Flush();
  database.clock().now_ms = kNow;

  database.CompactLevels({0}, 1);
  EXPECT_EQ(database.Get("k"), std::nullopt);
  EXPECT_EQ(database.Raw(), (RawCounts{.values = 1, .tombstones = 1}));
}

TEST(ResurrectionTest, RefreshedValueOutlivesItsOlderStamp) {
  TestDatabase database(EntryLayout::kValue);
  database.PutAtLevel(kLastLevel, "k", Entry(0, "payload"));
  database.Put("k", Entry(90, "payload"));
  database.Flush();
  database.clock().now_ms = 120;

  database.CompactLevels({kLastLevel}, kLastLevel);
  EXPECT_EQ(database.Get("k"), Entry(90, "payload"));
  database.clock().now_ms = 190;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ResurrectionTest, SnapshotLosesExpiredValuesButNeverSeesOlderOnes) {
  TestDatabase database(EntryLayout::kValue);
  database.Put("k", Entry(kOld));
  rocksdb::ManagedSnapshot snapshot(&database.db());
  database.clock().now_ms = kNow;

  database.CompactAll();
  EXPECT_EQ(database.Get("k", snapshot.snapshot()), std::nullopt);
}

TEST(ResurrectionTest, SnapshotKeepsTheLiveVersionUnderAnExpiredOne) {
  TestDatabase database(EntryLayout::kValue);
  database.Put("k", Entry(kLate, "v1"));
  {
    rocksdb::ManagedSnapshot snapshot(&database.db());
    database.Put("k", Entry(kOld, "v2"));
    database.clock().now_ms = kNow;

    database.CompactAll();
    EXPECT_EQ(database.Get("k", snapshot.snapshot()), Entry(kLate, "v1"));
    EXPECT_EQ(database.Get("k"), std::nullopt);
    EXPECT_EQ(database.Raw(), (RawCounts{.values = 1, .tombstones = 1}));
  }
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ResurrectionTest, SnapshotKeepsTheExpiredVersionUnderALiveOne) {
  TestDatabase database(EntryLayout::kValue);
  database.Put("k", Entry(kOld, "v1"));
  rocksdb::ManagedSnapshot snapshot(&database.db());
  database.Put("k", Entry(kLate, "v2"));
  database.clock().now_ms = kNow;

  database.CompactAll();
  EXPECT_EQ(database.Get("k", snapshot.snapshot()), Entry(kOld, "v1"));
  EXPECT_EQ(database.Get("k"), Entry(kLate, "v2"));
}

TEST(ResurrectionTest, OpenIteratorIsNotDisturbed) {
  TestDatabase database(EntryLayout::kValue);
  for (const char* key : {"a", "b", "c", "d"}) database.Put(key, Entry(kOld));
  const std::unique_ptr<rocksdb::Iterator> iterator(
      database.db().NewIterator({}, database.handle()));
  database.clock().now_ms = kNow;

  database.CompactAll();
  int seen = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++seen;
  EXPECT_EQ(seen, 4);
  EXPECT_EQ(database.Raw(), RawCounts{});
}

}  // namespace
}  // namespace mayfly::compaction_test
