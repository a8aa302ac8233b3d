// Cases C44, C53, C55 and C57: that clean-up removes all that it should, and
// what a scan sees of that.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cases/five_states.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using Numbers = ListStateDescriptor<std::int64_t>;
using NumberMap = MapStateDescriptor<std::int64_t, std::int64_t>;

constexpr const char* kAll = FiveStates::kAll;
constexpr auto Each = FiveStates::Each;

class CleanUpCasesTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  static bool OnRocksdb() { return GetParam().kind == BackendKind::kRocksdb; }
};

INSTANTIATE_TEST_SUITE_P(Setups, CleanUpCasesTest, state_test::AllSetups(),
                         SetupName);

// --- C44: no empty containers stay behind ---

TEST(HeapCleanUpCasesTest, CaseC44SweptContainersGoWithTheirEntries) {
  const StateTtlConfig ttl =
      state_test::TtlBuilder(100).CleanupIncrementally(5, true).Build().value();
  const auto map_descriptor = Describe<NumberMap>("map", ttl);
  const auto list_descriptor = Describe<Numbers>("list", ttl);
  Shard<std::int64_t> shard(state_test::kHeap);
  auto& map = shard.Get(map_descriptor);
  auto& list = shard.Get(list_descriptor);
  for (std::int64_t key = 1; key <= 1000; ++key) {
    shard->SetCurrentKey(key);
    for (int i = 0; i < 3; ++i) Must(map.Put(i, i));
    Must(list.AddAll({1, 2, 3}));
  }
  shard.clock().SetMs(120);
  for (int record = 0; record < 400; ++record) {
    shard->SetCurrentKey(0);
    Must(map.Put(0, record));
    Must(list.Update({record}));
  }
  const auto expect_one_key = [&] {
    const std::vector<StateStatistics> all = shard->Statistics().value();
    for (const StateStatistics& counts : all) {
      EXPECT_EQ(counts.live_entries, 1u) << counts.state;
      EXPECT_EQ(counts.expired_entries, 0u) << counts.state;
      // Not more than one entry with its key and framing.
      EXPECT_LE(counts.bytes, 40u) << counts.state;
    }
  };
  expect_one_key();
  shard.Commit();
  shard.Reopen();  // At the next snapshot.
  shard.Get(map_descriptor);
  shard.Get(list_descriptor);
  expect_one_key();
}

// --- C53: there is no way to a state without its clean-up ---

class AttachmentCasesTest : public CleanUpCasesTest {
 protected:
  static void WriteHundred(FiveStates& states) {
    for (int i = 0; i < 100; ++i) states.Write(std::to_string(i));
  }
  static void ExpectAllRemoved(FiveStates& states) {
    states.At(1000);
    states.RemoveExpired();
    EXPECT_EQ(states.Raw(), Each(0));
  }
};

INSTANTIATE_TEST_SUITE_P(Setups, AttachmentCasesTest, state_test::AllSetups(),
                         SetupName);

TEST_P(AttachmentCasesTest, CaseC53StatesOfAllKindsMadeBeforeTheFirstWrite) {
  FiveStates states(GetParam(), Ttl(100));
  states.Register();
  WriteHundred(states);
  ExpectAllRemoved(states);
}

TEST_P(AttachmentCasesTest, CaseC53StatesOfAllKindsMadeAfterOtherWrites) {
  FiveStates states(GetParam(), Ttl(100));
  auto& other = states.shard().Get(ValueStateDescriptor<std::string>("other"));
  for (int i = 0; i < 100; ++i) {
    states.shard()->SetCurrentKey(std::to_string(i));
    Must(other.Update("v"));
  }
  states.shard().Commit();
  states.Register();
  WriteHundred(states);
  ExpectAllRemoved(states);
}

TEST_P(AttachmentCasesTest, CaseC53StatesOfAllKindsThatAreRestored) {
  FiveStates states(GetParam(), Ttl(100));
  states.Register();
  WriteHundred(states);
  states.Restart();
  EXPECT_EQ(states.Live("99"), kAll);
  ExpectAllRemoved(states);
}

// --- C55: a scan that a compaction overtakes ---

TEST(ScanCasesTest, CaseC55AScanOutlivesTheCompactionOfWhatItReads) {
  compaction_test::TestDatabase database(EntryLayout::kValue);
  for (int i = 0; i < 1000; ++i) {
    database.Put(std::to_string(i), compaction_test::Entry(0));
  }
  database.clock().now_ms = 90;
  rocksdb::ManagedSnapshot snapshot(&database.db());
  rocksdb::ReadOptions options;
  options.snapshot = snapshot.snapshot();
  const auto scan = [&] {
    return std::unique_ptr<rocksdb::Iterator>(
        database.db().NewIterator(options, database.handle()));
  };
  const auto read = [](rocksdb::Iterator& from, int records_max) {
    int records = 0;
    for (; records < records_max && from.Valid(); from.Next()) ++records;
    EXPECT_TRUE(from.status().ok()) << from.status().ToString();
    return records;
  };
  const auto paused = scan();
  paused->SeekToFirst();
  ASSERT_EQ(read(*paused, 500), 500);
  const std::string reached = paused->key().ToString();

  database.clock().now_ms = 150;
  database.CompactAll();  // Throws if it fails.
  EXPECT_EQ(database.Raw(), compaction_test::RawCounts{});

  EXPECT_EQ(read(*paused, 1000), 500);
  // Filters do not heed snapshots, so a new scan may find less; not more.
  const auto anew = scan();
  anew->Seek(reached);
  EXPECT_LE(read(*anew, 1000), 500);
}

// --- C57: state that nobody touches ---

TEST_P(CleanUpCasesTest, CaseC57AnIdleShardIsCleanedByWhoAsksForIt) {
  FiveStates states(GetParam(), Ttl(100));
  states.Register();
  for (int i = 0; i < 1000; ++i) states.Write(std::to_string(i));
  states.shard().Commit();
  EXPECT_EQ(states.Stored(), Each(1000));
  states.At(100);  // And nothing is accessed any more.
  int calls = 0;
  while (!states.shard()->CleanUp(/*entries_max=*/500).value().round_complete) {
    ASSERT_LT(++calls, 20);
  }
  states.shard().Commit();
  EXPECT_EQ(states.Stored(), Each(0));
}

// What a job calls when it is idle reaches the states that are cleaned
// incrementally: by default those on heap.
TEST_P(CleanUpCasesTest, CaseC57IdleJobsCleanWhatIsCleanedIncrementally) {
  for (const bool asked_for : {false, true}) {
    SCOPED_TRACE(asked_for);
    auto builder = state_test::TtlBuilder(100);
    if (asked_for) builder.CleanupIncrementally(5, false);
    FiveStates states(GetParam(), builder.Build().value());
    states.Register();
    for (int i = 0; i < 100; ++i) states.Write(std::to_string(i));
    states.shard().Commit();
    states.At(100);
    while (!states.shard()->CleanUpInBackground(1000).value().round_complete) {
    }
    states.shard().Commit();
    const bool cleaned = asked_for || !OnRocksdb();
    EXPECT_EQ(states.Stored()[0], cleaned ? 0u : 100u);
    EXPECT_EQ(states.Stored()[4], cleaned ? 0u : 100u);
  }
}

}  // namespace
}  // namespace mayfly::cases
