// Where a state that is rewritten lies on RocksDB, and what a crash leaves.
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/state.pb.h"
#include "tests/unit/state/migrating_states.h"
#include "tests/unit/state/raw_database.h"

namespace mayfly::state_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class RocksdbMigrationTest : public ::testing::Test {
 protected:
  void Fill(int keys) {
    auto& state = shard_.Get(Migrating<Text>("state"));
    for (int i = 0; i < keys; ++i) {
      shard_->SetCurrentKey(std::to_string(i));
      Must(state.Update(std::string(100, 'v') + std::to_string(i * 7919)));
    }
    shard_.Commit();
  }

  std::vector<std::string> ColumnFamilies() {
    shard_.Close();
    return RawDatabase(shard_.options.directory).column_families();
  }

  Shard<> shard_{kRocksdb, /*now_ms=*/1000};
};

TEST_F(RocksdbMigrationTest, TheOldColumnFamilyStaysUntilTheCommit) {
  Fill(10);
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  EXPECT_THAT(ColumnFamilies(),
              UnorderedElementsAre("default", "state", "state~2"));
  // Nobody asks for anything: the new one goes.
  shard_.Reopen();
  EXPECT_THAT(ColumnFamilies(), UnorderedElementsAre("default", "state"));
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  shard_.Commit();
  EXPECT_THAT(ColumnFamilies(), UnorderedElementsAre("default", "state~2"));
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state"));
  shard_.Commit();
  EXPECT_THAT(ColumnFamilies(), UnorderedElementsAre("default", "state~3"));
}

// A crash between the commit and the drop of the old column family.
TEST_F(RocksdbMigrationTest, WhatACrashLeavesOfTheOldOneIsDroppedAtTheOpening) {
  Fill(10);
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  // Both are there, and the commit names the new one.
  ASSERT_EQ(ColumnFamilies().size(), 3u);
  {
    RawDatabase raw(shard_.options.directory, RawDatabase::Access::kWrite);
    v1::CommitRecord commit;
    ASSERT_TRUE(commit.ParseFromString(raw.Get("default", "commit")));
    ASSERT_THAT(commit.states(), ElementsAre("state"));
    commit.set_states(0, "state~2");
    raw.Put("default", "commit", commit.SerializeAsString());
  }
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  EXPECT_EQ(shard_.StoredEntries("state"), 10u);
  EXPECT_THAT(ColumnFamilies(), UnorderedElementsAre("default", "state~2"));
}

// 100 keys a file of 64 KiB and less: memory holds a block of one at a time.
TEST_F(RocksdbMigrationTest, ALargeStateIsWrittenAsManyFiles) {
  constexpr int kKeys = 20'000;
  Fill(kKeys);
  shard_.options.rocksdb.all_states.file_bytes = 64 << 10;
  shard_.options.rocksdb.all_states.compression = Compression::kNone;
  shard_.Reopen();
  auto& state = shard_.Get(Migrating<Text>("state", Ttl(100)));
  const std::vector<StateStatistics> figures = shard_->monitor()->Read({});
  ASSERT_EQ(figures.size(), 1u);
  const std::uint64_t files = figures[0].disk.files;
  // About 2.2 MB of keys and values.
  EXPECT_GE(files, 30u);
  EXPECT_LE(files, 50u);
  EXPECT_FALSE(fs::exists(shard_.options.directory + "/rewriting"));
  shard_.Commit();
  EXPECT_EQ(shard_.StoredEntries("state"), 20'000u);
  for (int i = 0; i < kKeys; i += 997) {
    shard_->SetCurrentKey(std::to_string(i));
    EXPECT_EQ(Read(state), std::string(100, 'v') + std::to_string(i * 7919));
  }
}

TEST_F(RocksdbMigrationTest, StoppedHalfWayItLeavesNothing) {
  Fill(20'000);
  std::atomic<bool> stop = false;
  shard_.options.migration.stop = &stop;
  shard_.options.migration.on_progress =
      [&](const std::string&, const TransferProgress&) { stop = true; };
  shard_.Reopen();
  EXPECT_TRUE(absl::IsCancelled(
      shard_->GetState(Migrating<Text>("state", Ttl(100))).status()));
  EXPECT_FALSE(fs::exists(shard_.options.directory + "/rewriting"));
  EXPECT_THAT(ColumnFamilies(), UnorderedElementsAre("default", "state"));
}

TEST_F(RocksdbMigrationTest, WhatAKilledOneHasLeftIsRemoved) {
  Fill(1);
  shard_.Close();
  fs::create_directory(shard_.options.directory + "/rewriting");
  shard_.Reopen();
  EXPECT_FALSE(fs::exists(shard_.options.directory + "/rewriting"));
}

// A checkpoint before the commit has the old form, one after it the new.
TEST_F(RocksdbMigrationTest, CheckpointsAndSavepointsFollowTheCommit) {
  const TempDirectory extra;
  Fill(10);
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  Must(shard_->Checkpoint(extra.Path("before")).status());
  shard_.Commit();
  Must(shard_->Checkpoint(extra.Path("after")).status());
  shard_.Close();
  const std::string value = std::string(100, 'v') + "0";
  EXPECT_EQ(Stored(extra.Path("before"), "state").at("0"), value);
  EXPECT_EQ(Stored(extra.Path("after"), "state").at("0").size(),
            value.size() + 8);
  Must(WriteSavepoint(extra.Path("after"), extra.Path("savepoint")).status());
  shard_.options.directory = extra.Path("restored");
  Must(RestoreShard({.sources = {extra.Path("savepoint")},
                     .processing_clock = shard_.options.processing_clock},
                    shard_.options)
           .status());
  // Where it is written anew it is named like any other.
  EXPECT_THAT(RawDatabase(shard_.options.directory).column_families(),
              UnorderedElementsAre("default", "state"));
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  EXPECT_EQ(shard_.StoredEntries("state"), 10u);
}

// The sweeper, the options and the figures of the state are those of the new
// column family.
TEST_F(RocksdbMigrationTest, EverythingFollowsTheState) {
  Fill(10);
  shard_.Reopen();
  shard_.Get(Migrating<Text>("state", Ttl(100)));
  shard_.Commit();
  shard_.clock().SetMs(1100);
  shard_.Commit();
  EXPECT_EQ(shard_->LiveRocksdbOptions().value().states.count("state"), 1u);
  EXPECT_EQ(shard_->LiveRocksdbOptions().value().states.size(), 1u);
  RocksdbOptions options;
  options.states["state"].write_buffer_bytes = 1 << 20;
  Must(shard_->SetRocksdbOptions(options));
  EXPECT_EQ(shard_->LiveRocksdbOptions()
                .value()
                .states.at("state")
                .write_buffer_bytes,
            1u << 20);
  const SweepReport swept =
      shard_->disk_sweeper()->Sweep(SweepOptions(), 1100).value();
  EXPECT_EQ(swept.files_dropped, 1u);
  EXPECT_EQ(shard_.StoredEntries("state"), 0u);
}

TEST_F(RocksdbMigrationTest, WhatDoesNotDecodeIsRefusedAndKept) {
  shard_->SetCurrentKey("k");
  Must(shard_.Get(Migrating<Text>("state", Ttl(100))).Update("a"));
  shard_.Commit();
  shard_.Close();
  RawDatabase(shard_.options.directory, RawDatabase::Access::kWrite)
      .Put("state", "bad", "short");
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(Migrating<Text>("state")).status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("state 'state', key 0x626164"),
                             HasSubstr(shard_.options.directory))));
  auto& state = shard_.Get(Migrating<Text>("state", Ttl(100)));
  shard_->SetCurrentKey("bad");
  EXPECT_FALSE(state.Value().ok());
  Must(state.Clear());
  shard_.Commit();
  shard_.Reopen();
  auto& off = shard_.Get(Migrating<Text>("state"));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(off), "a");
}

}  // namespace
}  // namespace mayfly::state_test
