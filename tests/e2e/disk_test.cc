// What has expired leaves the disk: after a run on RocksDB, with the clock a
// TTL further, a compaction leaves no entry of any state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "airport_delays/delay_board.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Pair;

constexpr std::chrono::hours kTtl(3);

using Backend = KeyedStateBackend<std::string>;

// A shard's backend with the states of the job, as the job has them.
std::unique_ptr<Backend> OpenShard(const DemoJob& job, int shard) {
  const absl::StatusOr<StateTtlConfig> ttl =
      StateTtlConfig::NewBuilder(kTtl)
          .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
          .Build();
  EXPECT_THAT(ttl, IsOk());
  const airport_delays::DelayBoardStates states(*ttl);
  BackendOptions options;
  options.directory = job.shard_path(shard);
  absl::StatusOr<std::unique_ptr<Backend>> backend = Backend::Open(options);
  EXPECT_THAT(backend, IsOk());
  EXPECT_THAT((*backend)->GetState(states.streak), IsOk());
  EXPECT_THAT((*backend)->GetState(states.recent), IsOk());
  EXPECT_THAT((*backend)->GetState(states.destinations), IsOk());
  return *std::move(backend);
}

struct Count {
  std::uint64_t live = 0;
  std::uint64_t expired = 0;

  friend bool operator==(const Count&, const Count&) = default;
};

std::map<std::string, Count> CountEntries(Backend& backend) {
  const auto statistics = backend.Statistics();
  EXPECT_THAT(statistics, IsOk());
  std::map<std::string, Count> counts;
  for (const StateStatistics& state : *statistics) {
    EXPECT_TRUE(state.exact);
    counts[state.state] = {state.live_entries, state.expired_entries};
  }
  return counts;
}

// Records in each column family, by RocksDB alone.
std::map<std::string, int> CountRecords(const std::string& path) {
  std::vector<std::string> names;
  EXPECT_TRUE(rocksdb::DB::ListColumnFamilies({}, path, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) {
    descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly({}, path, descriptors, &families, &opened);
  EXPECT_TRUE(status.ok()) << status.ToString();
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::map<std::string, int> counts;
  for (rocksdb::ColumnFamilyHandle* family : families) {
    const std::unique_ptr<rocksdb::Iterator> records(
        db->NewIterator({}, family));
    int& count = counts[family->GetName()];
    for (records->SeekToFirst(); records->Valid(); records->Next()) ++count;
    EXPECT_TRUE(records->status().ok()) << records->status().ToString();
    db->DestroyColumnFamilyHandle(family);
  }
  return counts;
}

class DiskTest : public ::testing::TestWithParam<int> {};

TEST_P(DiskTest, HoldsNothingOnceAllHasExpired) {
  const int shards = GetParam();
  const DemoJob job(DemoFlags{"rocksdb", shards});
  ASSERT_EQ(job.Run().exit_code, 0);
  for (int shard = 0; shard < shards; ++shard) {
    {
      const std::unique_ptr<Backend> backend = OpenShard(job, shard);
      for (const auto& [state, count] : CountEntries(*backend)) {
        EXPECT_GT(count.live + count.expired, 0u) << state;
      }
      backend->AdvanceWatermark(backend->watermark() +
                                std::chrono::milliseconds(kTtl).count());
      ASSERT_THAT(backend->Commit(backend->committed_position()), IsOk());
      ASSERT_THAT(backend->Compact(), IsOk());
      for (const auto& [state, count] : CountEntries(*backend)) {
        EXPECT_EQ(count, Count()) << state;
      }
    }
    const auto records = CountRecords(job.shard_path(shard) + "/db");
    EXPECT_THAT(records, Contains(Pair("streak", 0)));
    EXPECT_THAT(records, Contains(Pair("recent", 0)));
    EXPECT_THAT(records, Contains(Pair("destinations", 0)));
  }
}

TEST_P(DiskTest, KeepsWhatLives) {
  const int shards = GetParam();
  const DemoJob job(DemoFlags{"rocksdb", shards});
  ASSERT_EQ(job.Run().exit_code, 0);
  for (int shard = 0; shard < shards; ++shard) {
    const std::unique_ptr<Backend> backend = OpenShard(job, shard);
    const std::map<std::string, Count> before = CountEntries(*backend);
    ASSERT_THAT(before, Contains(Key("streak")));
    EXPECT_GT(before.at("streak").live, 0u);
    EXPECT_GT(before.at("streak").expired, 0u);
    ASSERT_THAT(backend->Compact(), IsOk());
    for (const auto& [state, count] : CountEntries(*backend)) {
      EXPECT_EQ(count, (Count{.live = before.at(state).live})) << state;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, DiskTest, ::testing::Values(1, 2),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace mayfly::e2e
