// Values and map entries on a real database.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/listener.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

TEST(ValueDatabaseTest, Row38CompactingNothingIsNoError) {
  TestDatabase database(EntryLayout::kValue);
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ValueDatabaseTest, Rows39To42ValueLeavesTheDiskOnceItsLastWriteExpires) {
  TestDatabase database(EntryLayout::kValue);
  database.Put("k1", Entry(0, "E"));
  database.Put("k2", Entry(0, "E"));
  database.clock().now_ms = 50;
  database.CompactAll();
  EXPECT_EQ(database.Get("k1"), Entry(0, "E"));
  EXPECT_EQ(database.Get("k2"), Entry(0, "E"));

  database.Put("k1", Entry(50, "U"));
  database.Put("k2", Entry(50, "U"));
  for (const TimestampMs now : {80, 120}) {
    database.clock().now_ms = now;
    database.CompactAll();
    EXPECT_EQ(database.Get("k1"), Entry(50, "U"));
    EXPECT_EQ(database.Get("k2"), Entry(50, "U"));
  }

  database.clock().now_ms = 170;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ValueDatabaseTest, Row119ValueWrittenEveryHalfTtlNeverExpires) {
  TestDatabase database(EntryLayout::kValue);
  for (TimestampMs now = 0; now < 10 * kTtlMs; now += kTtlMs / 2) {
    database.clock().now_ms = now;
    database.CompactAll();
    if (now > 0) {
      EXPECT_NE(database.Get("k"), std::nullopt) << now;
    }
    database.Put("k", Entry(now));
  }
}

TEST(ValueDatabaseTest, Row137OtherColumnFamiliesAreLeftAlone) {
  TestDatabase database(EntryLayout::kValue);
  ColumnFamilyTtlSettings longer = Settings(EntryLayout::kValue);
  longer.rule.ttl_ms = 1000;
  rocksdb::ColumnFamilyOptions longer_options;
  ConfigureTtlColumnFamily(MakeTtl(longer, database.shared_clock()),
                           &longer_options);
  database.CreateColumnFamily("longer", longer_options);
  database.CreateColumnFamily("plain", {});
  rocksdb::DB& db = database.db();
  for (const char* name : {"default", "longer", "plain"}) {
    ASSERT_TRUE(db.Put({}, database.handle(name), "k", Entry(0)).ok());
  }

  const auto compact = [&] {
    for (const char* name : {"default", "longer", "plain"}) {
      database.CompactAll(database.handle(name));
    }
  };
  database.clock().now_ms = 999;
  compact();
  EXPECT_EQ(database.Raw(database.handle("default")), RawCounts{});
  EXPECT_EQ(database.Raw(database.handle("longer")), RawCounts{.values = 1});
  EXPECT_EQ(database.Raw(database.handle("plain")), RawCounts{.values = 1});
  database.clock().now_ms = 1000;
  compact();
  EXPECT_EQ(database.Raw(database.handle("longer")), RawCounts{});
  EXPECT_EQ(database.Raw(database.handle("plain")), RawCounts{.values = 1});
}

TEST(ValueDatabaseTest, CaseC31TombstonesOfTheFilterMixWithDeletes) {
  TestDatabase database(EntryLayout::kValue);
  database.PutAtLevel(kLastLevel, "k", Entry(0));
  database.Put("k", Entry(50));
  database.Flush();
  database.clock().now_ms = 150;
  database.CompactLevels({0}, 1);
  ASSERT_EQ(database.Raw(), (RawCounts{.values = 1, .tombstones = 1}));

  database.Delete("k");
  database.Flush();
  database.Put("k", Entry(150));
  database.Flush();
  database.CompactAll();
  EXPECT_EQ(database.Get("k"), Entry(150));
  EXPECT_EQ(database.Raw(), RawCounts{.values = 1});
}

TEST(ValueDatabaseTest, CaseC34NullAndEmptyMapValuesExpireLikeOthers) {
  TestDatabase database(EntryLayout::kValue);
  // However a null is told from an empty string, it follows the timestamp.
  database.Put("a", Entry(0, ""));
  database.Put("b", Entry(0, std::string(1, '\0')));
  database.Put("c", Entry(0, "\1x"));
  database.clock().now_ms = 99;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{.values = 3});
  EXPECT_EQ(database.Get("a"), Entry(0, ""));
  database.clock().now_ms = 100;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ValueDatabaseTest, CaseC62ValuesTooShortForATimestampStay) {
  constexpr TimestampMs kWritten = 1'700'000'000'000;
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.rule.ttl_ms = 60'000;
  TestDatabase database(settings);
  for (const std::size_t size : {0, 1, 7}) {
    database.Put("damaged" + std::to_string(size), std::string(size, '\1'));
  }
  database.Put("empty", Entry(kWritten, ""));
  database.Put("byte", Entry(kWritten, "x"));

  database.clock().now_ms = kWritten + 1;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{.values = 5});
  database.clock().now_ms = kWritten + 60'000;
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{.values = 3});
  EXPECT_EQ(database.Get("damaged0"), "");
  EXPECT_EQ(database.Get("damaged1"), "\1");
  EXPECT_EQ(database.Get("damaged7"), std::string(7, '\1'));
  EXPECT_GE(database.ttl().counters().malformed, 3);
}

// Lets a test wait for a compaction that RocksDB starts by itself.
class CompactionCounter : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo&) override {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  bool WaitForOne() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1),
                             [this] { return done_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

TEST(ValueDatabaseTest, CaseC49TrivialMoveRemovesNothingAndIsNoPass) {
  const auto compactions = std::make_shared<CompactionCounter>();
  TestDatabase database(Settings(EntryLayout::kValue),
                        [&](rocksdb::Options& options) {
                          options.disable_auto_compactions = false;
                          options.level0_file_num_compaction_trigger = 1;
                          options.listeners = {compactions};
                        });
  for (int i = 0; i < 10'000; ++i) {
    database.Put("k" + std::to_string(i), Entry(0));
  }
  database.clock().now_ms = 200;
  database.Flush();
  ASSERT_TRUE(compactions->WaitForOne());
  EXPECT_EQ(database.FilesAtLevel(0), 0);
  EXPECT_EQ(database.Raw(), RawCounts{.values = 10'000});
  EXPECT_EQ(database.ttl().counters().passes, 0);

  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
  EXPECT_GE(database.ttl().counters().passes, 1);
  EXPECT_EQ(database.ttl().counters().records_removed, 10'000);
}

TEST(ValueDatabaseTest, CaseC53FilterIsThereHoweverTheColumnFamilyCameToBe) {
  TestDatabase database(EntryLayout::kValue);
  for (int i = 0; i < 100; ++i) database.Put(std::to_string(i), Entry(0));
  const auto later =
      MakeTtl(Settings(EntryLayout::kList), database.shared_clock());
  rocksdb::ColumnFamilyOptions options;
  ConfigureTtlColumnFamily(later, &options);
  database.CreateColumnFamily("later", options);
  const auto fill_and_expire = [&] {
    database.clock().now_ms = 0;
    for (int i = 0; i < 100; ++i) {
      const std::string key = std::to_string(i);
      database.Put(key, Entry(0));
      ASSERT_TRUE(database.db()
                      .Merge({}, database.handle("later"), key, Element(0, "x"))
                      .ok());
    }
    database.Flush();
    database.Flush(database.handle("later"));
    database.clock().now_ms = 1000;
  };
  const auto expect_gone = [&] {
    EXPECT_TRUE(VerifyTtlColumnFamily(
                    database.ttl(), database.db().GetOptions(database.handle()))
                    .ok());
    EXPECT_TRUE(VerifyTtlColumnFamily(
                    *later, database.db().GetOptions(database.handle("later")))
                    .ok());
    database.CompactAll();
    database.CompactAll(database.handle("later"));
    EXPECT_EQ(database.Raw(), RawCounts{});
    EXPECT_EQ(database.Raw(database.handle("later")), RawCounts{});
  };

  fill_and_expire();
  expect_gone();
  fill_and_expire();
  database.Reopen();
  expect_gone();
}

TEST(ValueDatabaseTest, ShorterTtlActsWithoutReopening) {
  TestDatabase database(EntryLayout::kValue);
  database.Put("k", Entry(0));
  database.clock().now_ms = 50;
  database.CompactAll();
  ASSERT_EQ(database.Raw(), RawCounts{.values = 1});
  ASSERT_TRUE(database.ttl().SetRule({.ttl_ms = 50}).ok());
  database.CompactAll();
  EXPECT_EQ(database.Raw(), RawCounts{});
}

TEST(ValueDatabaseTest, LongerTtlActsWithoutReopening) {
  TestDatabase database(EntryLayout::kValue);
  database.Put("expired", Entry(0));
  database.Put("live", Entry(1));
  database.clock().now_ms = 100;
  ASSERT_TRUE(
      database.ttl().SetRule({.ttl_ms = 200, .expired_through_ms = 0}).ok());
  database.clock().now_ms = 200;
  database.CompactAll();
  EXPECT_EQ(database.Get("expired"), std::nullopt);
  EXPECT_EQ(database.Get("live"), Entry(1));
}

}  // namespace
}  // namespace mayfly::compaction_test
