// Lists on a real database: elements expire one by one, whatever RocksDB has
// merged by then.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

// Element(x) with its time as payload.
std::string At(TimestampMs timestamp_ms) {
  return Element(timestamp_ms, std::to_string(timestamp_ms));
}

TEST(ListDatabaseTest, Rows39To42ListLosesElementsAsTheyExpire) {
  TestDatabase database(EntryLayout::kList);
  database.Append("k1", At(0) + At(0));
  database.Append("k2", At(0));
  database.clock().now_ms = 50;
  database.CompactAll();
  EXPECT_EQ(database.Get("k1"), At(0) + At(0));

  database.Append("k1", At(50));
  database.Append("k2", At(50) + At(50));
  database.clock().now_ms = 80;
  database.CompactAll();
  EXPECT_EQ(database.Get("k1"), At(0) + At(0) + At(50));
  EXPECT_EQ(database.Get("k2"), At(0) + At(50) + At(50));

  database.clock().now_ms = 120;
  database.CompactAll();
  EXPECT_EQ(database.Get("k1"), At(50));
  EXPECT_EQ(database.Get("k2"), At(50) + At(50));

  database.clock().now_ms = 170;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ListDatabaseTest, Rows55And128OneCompactionDropsOldElements) {
  const std::string old3 = At(0) + At(0) + At(0);
  const std::string new3 = At(100) + At(100) + At(100);
  const std::string old2_new3 = At(0) + At(0) + new3;
  const std::string new4 = new3 + At(100);
  const std::string all = old3 + old2_new3 + new4;
  const std::string live = new3 + new4;
  TestDatabase database(EntryLayout::kList);
  const auto append_all = [&] {
    for (const std::string& operand : {old3, old2_new3, new4}) {
      database.Append("k", operand);
    }
    database.Flush();
  };
  // Once with the operands merged beforehand, once in the same compaction.
  for (const bool merged_before : {true, false}) {
    SCOPED_TRACE(merged_before);
    database.clock().now_ms = 0;
    append_all();
    if (merged_before) database.CompactLevels({0}, kLastLevel);
    EXPECT_EQ(database.Get("k"), all);

    database.clock().now_ms = 150;
    database.CompactLevels({0, kLastLevel}, kLastLevel);
    EXPECT_EQ(database.Get("k"), live);
    EXPECT_EQ(database.Raw(), RawCounts{.values = 1});
    database.CompactAll();
    EXPECT_EQ(database.Get("k"), live);
    database.Delete("k");
    database.CompactAll();
  }
}

TEST(ListDatabaseTest, CaseC23ExpiredElementBetweenLiveOnesGoesAlone) {
  TestDatabase database(EntryLayout::kList);
  database.Put("put", At(100) + At(0) + At(100));
  for (const TimestampMs timestamp : {100, 0, 100}) {
    database.Append("merged", At(timestamp));
  }
  database.clock().now_ms = 150;
  EXPECT_EQ(database.Get("merged"), At(100) + At(100));
  database.CompactAll();
  EXPECT_EQ(database.Get("put"), At(100) + At(100));
  EXPECT_EQ(database.Get("merged"), At(100) + At(100));
}

TEST(ListDatabaseTest, CaseC25ListsOfAppendsAloneExpire) {
  TestDatabase database(EntryLayout::kList);
  for (const TimestampMs timestamp : {0, 10, 20}) {
    for (int i = 0; i < 1000; ++i) {
      database.Append("k" + std::to_string(i), At(timestamp));
    }
    database.Flush();
  }
  database.clock().now_ms = 115;
  database.CompactAll();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(database.Get("k" + std::to_string(i)), At(20)) << i;
  }
  database.clock().now_ms = 200;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ListDatabaseTest, CaseC26EachElementLivesItsOwnLife) {
  TestDatabase database(EntryLayout::kList);
  for (const TimestampMs timestamp : {23, 20, 24}) {
    database.Append("k", At(timestamp));
    database.Flush();
  }
  const std::pair<TimestampMs, std::string> expected[] = {
      {119, At(23) + At(20) + At(24)},
      {120, At(23) + At(24)},
      {122, At(23) + At(24)},
      {123, At(24)},
  };
  for (const auto& [now, list] : expected) {
    database.clock().now_ms = now;
    database.CompactAll();
    EXPECT_EQ(database.Get("k"), list) << now;
  }
  database.clock().now_ms = 124;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ListDatabaseTest, CaseC28SnapshotPinsOperandsNoLongerThanItLives) {
  TestDatabase database(EntryLayout::kList);
  for (int i = 0; i < 100; ++i) database.Append("k", At(0));
  {
    const rocksdb::ManagedSnapshot snapshot(&database.db());
    database.clock().now_ms = 200;
    database.CompactAll();
    EXPECT_EQ(database.Get("k").value_or(""), "");
    EXPECT_LE(database.Raw().merge_operands + database.Raw().values, 100);
  }
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ListDatabaseTest, CaseC29SnapshotSeesTheListAsItWas) {
  TestDatabase database([] {
    ColumnFamilyTtlSettings settings = Settings(EntryLayout::kList);
    settings.rule.ttl_ms = 1000;
    return settings;
  }());
  database.Append("k", At(0));
  {
    rocksdb::ManagedSnapshot snapshot(&database.db());
    database.Append("k", At(10));
    database.clock().now_ms = 20;
    database.CompactAll();
    EXPECT_EQ(database.Get("k", snapshot.snapshot()), At(0));
    EXPECT_EQ(database.Get("k"), At(0) + At(10));
  }
  database.Reopen();
  EXPECT_EQ(database.Get("k"), At(0) + At(10));
}

TEST(ListDatabaseTest, IteratorMergesEachListByItself) {
  TestDatabase database(EntryLayout::kList);
  for (const char* key : {"a", "b", "c"}) {
    database.Append(key, Element(0, key));
    database.Append(key, Element(0, key));
  }
  const std::unique_ptr<rocksdb::Iterator> iterator(
      database.db().NewIterator({}, database.handle()));
  iterator->SeekToFirst();
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(iterator->Valid());
    EXPECT_EQ(iterator->value().ToString(), Element(0, key) + Element(0, key));
    iterator->Next();
  }
  EXPECT_FALSE(iterator->Valid());
}

TEST(ListDatabaseTest, CaseC62UnreadableListStaysThroughEveryCompaction) {
  TestDatabase database(EntryLayout::kList);
  const std::string torn = At(0).substr(0, 5);
  database.Put("k", At(0) + torn);
  database.clock().now_ms = 1000;
  database.CompactAll();
  EXPECT_EQ(database.Get("k"), At(0) + torn);
  database.Append("k", At(1000));
  database.CompactAll();
  const std::string kept = database.Get("k").value_or("");
  EXPECT_NE(kept.find(At(0) + torn), std::string::npos);
  EXPECT_NE(kept.find(At(1000)), std::string::npos);
}

// Ten appends a round, all of the last round live. With the filter alone the
// list would hold 400 elements at the end.
TEST(ListDatabaseTest, ListAppendedToForEverStaysWithinTwiceItsLiveSize) {
  // Into the last level every round, and into it only every fifth round, with
  // partial merges in level 1 between.
  for (const int rounds_per_full_merge : {1, 5}) {
    SCOPED_TRACE(rounds_per_full_merge);
    ColumnFamilyTtlSettings settings = Settings(EntryLayout::kList);
    settings.rule.ttl_ms = 10;
    TestDatabase database(settings);
    TimestampMs now = 0;
    for (int round = 1; round <= 40; ++round) {
      for (int i = 0; i < 10; ++i) database.Append("k", At(now++));
      database.clock().now_ms = now - 1;
      database.Flush();
      const bool full = round % rounds_per_full_merge == 0;
      if (full) {
        database.CompactLevels({0, 1, kLastLevel}, kLastLevel);
      } else {
        database.CompactLevels({0, 1}, 1);
      }
      std::string live;
      for (TimestampMs t = now - 10; t < now; ++t) live += At(t);
      EXPECT_EQ(database.Get("k"), live) << round;

      rocksdb::TablePropertiesCollection tables;
      ASSERT_TRUE(database.db()
                      .GetPropertiesOfAllTables(database.handle(), &tables)
                      .ok());
      std::uint64_t stored_bytes = 0;
      for (const auto& [file, properties] : tables) {
        stored_bytes += properties->raw_value_size;
      }
      EXPECT_LE(stored_bytes, 2 * live.size()) << round;
    }
  }
}

// The filter still keeps the operands, and a moment later the merge finds them
// expired: it cannot remove the key, and leaves an empty list.
class EmptyListTest : public ::testing::Test {
 protected:
  EmptyListTest() : database_(LookAtTheClockOnceAPass()) {}

  static ColumnFamilyTtlSettings LookAtTheClockOnceAPass() {
    ColumnFamilyTtlSettings settings = Settings(EntryLayout::kList);
    settings.query_time_after_num_entries = 1'000'000;
    return settings;
  }

  void AppendTwoThatExpireWhileCompacted(int output_level) {
    database_.Append("k", At(0));
    database_.Append("k", At(0));
    database_.Flush();
    database_.clock().now_ms = 99;
    database_.clock().step_ms = 1;
    database_.CompactLevels({0}, output_level);
    database_.clock().step_ms = 0;
  }

  TestDatabase database_;
};

TEST_F(EmptyListTest, ValueIsRemovedByTheNextPass) {
  AppendTwoThatExpireWhileCompacted(kLastLevel);
  EXPECT_EQ(database_.Get("k"), "");
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 1});
  database_.CompactLevels({kLastLevel}, kLastLevel);
  EXPECT_EQ(database_.Raw(), RawCounts{});
}

TEST_F(EmptyListTest, OperandIsRemovedByTheNextPassAndUncoversItsBase) {
  database_.PutAtLevel(kLastLevel, "k", At(kNeverExpires));
  AppendTwoThatExpireWhileCompacted(1);
  EXPECT_EQ(database_.Get("k"), At(kNeverExpires));
  EXPECT_EQ(database_.Raw(), (RawCounts{.values = 1, .merge_operands = 1}));
  database_.CompactLevels({1}, 1);
  EXPECT_EQ(database_.Get("k"), At(kNeverExpires));
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 1});
}

}  // namespace
}  // namespace mayfly::compaction_test
