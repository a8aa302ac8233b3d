// Compactions, reads that merge, writes, changes of the rule and a moving clock
// at once, on a real database: nothing live is lost, nothing expired stays. Not
// for the thread sanitizer, to which RocksDB's own lock-free reads of the
// memtable look like races; concurrency_test.cc is.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

TEST(ConcurrentDatabaseTest, RuleAndClockChangeUnderCompactionsAndReads) {
  constexpr int kKeys = 500;
  constexpr int kRounds = 10;
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kList);
  settings.query_time_after_num_entries = 7;
  TestDatabase database(settings);
  const std::string kept = Element(kNeverExpires, "kept");
  for (int i = 0; i < kKeys; ++i) database.Put(std::to_string(i), kept);

  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {  // Compacts.
    for (int round = 0; round < kRounds; ++round) database.CompactAll();
    done = true;
  });
  threads.emplace_back([&] {  // Writes what expires.
    for (int i = 0; !done; ++i) {
      database.Append(std::to_string(i % kKeys), Element(i % 1000, "expires"));
    }
  });
  threads.emplace_back([&] {  // Changes what is expired.
    for (int i = 0; !done; ++i) {
      ASSERT_TRUE(database.ttl().SetRule({.ttl_ms = 1 + i % 50}).ok());
      database.clock().now_ms = i % 1000;
      // Keep the rules set, which live as long as the column family, few.
      for (int pause = 0; pause < 100; ++pause) std::this_thread::yield();
    }
  });
  threads.emplace_back([&] {  // Reads.
    for (int i = 0; !done; ++i) {
      const std::string list =
          database.Get(std::to_string(i % kKeys)).value_or("");
      ASSERT_EQ(list.compare(0, kept.size(), kept), 0);
      ASSERT_EQ(database.ttl().counters().malformed, 0);
    }
  });
  for (std::thread& thread : threads) thread.join();

  database.clock().now_ms = 1'000'000;
  database.CompactAll();
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(database.Get(std::to_string(i)), kept) << i;
  }
  EXPECT_EQ(database.Raw(), RawCounts{.values = kKeys});
}

}  // namespace
}  // namespace mayfly::compaction_test
