// Checkpoints of one shard: copies as of the last commit that can be opened.
#include "mayfly/state/checkpoint.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class CheckpointTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // Writes all states of key `k`.
  static void Write(Shard<>& shard, const std::string& text) {
    shard->SetCurrentKey("k");
    Must(shard.Get(Describe<Value>("value", Ttl(1000))).Update(text));
    Must(shard.Get(List("list")).Add(text));
    Must(shard.Get(Describe<Map>("map", Ttl(1000))).Put(text, text));
  }

  // What `shard` would be if it were opened on a directory.
  static void OpenOn(Shard<>& shard, const std::string& directory) {
    shard.options.directory = directory;
    shard.Reopen();
    shard->SetCurrentKey("k");
  }

  std::string Path(const std::string& name) const {
    return directory_.Path(name);
  }

  const TempDirectory directory_;
  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Backends, CheckpointTest, BothBackends(), SetupName);

TEST_P(CheckpointTest, IsTheShardAsOfTheLastCommit) {
  shard_.clock().SetMs(5000);
  Write(shard_, "first");
  shard_.Commit("position");
  Write(shard_, "not committed");
  ASSERT_THAT(shard_->Checkpoint(Path("one")), IsOk());
  shard_.Commit("later");
  Write(shard_, "third");
  shard_.Commit("last");

  Shard<> copy(GetParam());
  OpenOn(copy, Path("one"));
  EXPECT_EQ(copy->committed_position(), "position");
  EXPECT_EQ(Read(copy.Get(Describe<Value>("value", Ttl(1000)))), "first");
  EXPECT_THAT(Read(copy.Get(List("list"))), ElementsAre("first"));
  EXPECT_EQ(Read(copy.Get(Describe<Map>("map", Ttl(1000)))),
            (std::map<std::string, std::string>{{"first", "first"}}));
  // Its clock goes on from there, too.
  copy.clock().SetMs(0);
  EXPECT_EQ(Read(copy.Get(Describe<Value>("value", Ttl(1000)))), "first");

  // What becomes of the copy is nothing to the shard, and the other way round.
  Write(copy, "of the copy");
  copy.Commit();
  Must(copy->Compact());
  shard_.Reopen();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(shard_.Get(Describe<Value>("value", Ttl(1000)))), "third");
}

TEST_P(CheckpointTest, NamesEachFileWithItsSizeAndChecksum) {
  Write(shard_, "flushed");
  shard_.Commit();
  Must(shard_->Compact());
  Write(shard_, "in the log");
  shard_.Commit();
  const CheckpointFiles files = shard_->Checkpoint(Path("one")).value();
  EXPECT_THAT(files, Contains(Field(&CheckpointFile::path, "MANIFEST.mayfly")));
  std::size_t found = 0;
  std::size_t table_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(Path("one"))) {
    if (entry.is_regular_file()) ++found;
  }
  EXPECT_EQ(files.size(), found);
  for (const CheckpointFile& file : files) {
    const auto digest =
        state_internal::DigestFile(Path("one") + "/" + file.path);
    ASSERT_THAT(digest, IsOk()) << file.path;
    EXPECT_EQ(file.bytes, digest->bytes) << file.path;
    EXPECT_EQ(file.crc32c, digest->crc32c) << file.path;
    if (!file.path.ends_with(".sst")) continue;
    ++table_files;
    EXPECT_GT(fs::hard_link_count(Path("one") + "/" + file.path), 1u);
  }
  EXPECT_EQ(table_files > 0, GetParam().kind == BackendKind::kRocksdb);
}

TEST_P(CheckpointTest, TableFilesAreTheSameInTheNext) {
  Write(shard_, "v");
  shard_.Commit();
  Must(shard_->Compact());
  const CheckpointFiles first = shard_->Checkpoint(Path("one")).value();
  const CheckpointFiles second = shard_->Checkpoint(Path("two")).value();
  for (const CheckpointFile& file : first) {
    if (!file.path.ends_with(".sst")) continue;
    EXPECT_THAT(second, Contains(file));
  }
}

TEST_P(CheckpointTest, WhatACrashLeftOfOneIsReplaced) {
  Write(shard_, "v");
  shard_.Commit();
  fs::create_directories(Path("one.tmp/db"));
  std::ofstream(Path("one.tmp/db/000009.sst")) << "half a file";
  ASSERT_THAT(shard_->Checkpoint(Path("one")), IsOk());
  EXPECT_FALSE(fs::exists(Path("one.tmp")));
  Shard<> copy(GetParam());
  OpenOn(copy, Path("one"));
  EXPECT_EQ(Read(copy.Get(Describe<Value>("value", Ttl(1000)))), "v");
}

TEST(FailedCheckpointTest, CaseC28PinsNothing) {
  const TempDirectory directory;
  Shard<> shard(kRocksdb);
  auto& list = shard.Get(Describe<List>("list", Ttl(100)));
  for (int i = 0; i < 100; ++i) {
    shard->SetCurrentKey("k");
    Must(list.Add("v"));
    shard.Commit();
  }
  fs::create_directory(directory.Path("taken"));
  std::ofstream(directory.Path("taken/file")) << "of somebody else";
  ASSERT_FALSE(shard->Checkpoint(directory.Path("taken")).ok());
  shard.clock().SetMs(100);
  shard.Commit();
  // One for the elements, and one for the list that they leave empty.
  Must(shard->Compact());
  Must(shard->Compact());
  EXPECT_EQ(shard.StoredEntries("list"), 0u);
}

TEST(CheckpointAndSweepTest, CaseC68HoldsWhatLivedWhateverASweepTakesAway) {
  constexpr int kTtlMs = 100;
  constexpr int kKeys = 50;
  const TempDirectory directory;
  Shard<> shard(kRocksdbTinyTable);
  const auto value = Describe<Value>("value", Ttl(kTtlMs));
  const auto sweeper = shard->disk_sweeper();
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> removed = 0;
  std::thread sweeps([&] {
    while (!done) {
      const auto report = sweeper->Sweep(
          {.expired_share = 0.001, .staleness_max = milliseconds(1000)},
          shard.clock().NowMs());
      ASSERT_THAT(report, IsOk());
      removed += report->files_dropped + report->compactions;
    }
  });
  // Until sweeps and checkpoints have met often enough.
  for (int round = 0; round < 30 || removed < 30; ++round) {
    for (int key = round % 3; key < kKeys; key += 3) {
      shard->SetCurrentKey(std::to_string(key));
      Must(shard.Get(value).Update(std::to_string(round)));
    }
    shard.Commit();
    if (round % 5 == 0) Must(shard->Compact());
    shard.clock().Advance(milliseconds(kTtlMs / 4));
    const std::string path = directory.Path(std::to_string(round));
    ASSERT_THAT(shard->Checkpoint(path), IsOk());
    Shard<> copy(kRocksdb, shard.clock().NowMs());
    copy.options.directory = path;
    copy.Reopen();
    for (int key = 0; key < kKeys; ++key) {
      shard->SetCurrentKey(std::to_string(key));
      copy->SetCurrentKey(std::to_string(key));
      ASSERT_EQ(Read(copy.Get(value)), Read(shard.Get(value)))
          << "key " << key << " in round " << round;
    }
    copy.Close();
    fs::remove_all(path);
  }
  done = true;
  sweeps.join();
}

TEST_P(CheckpointTest, IsRefusedWhereSomethingIs) {
  Write(shard_, "v");
  shard_.Commit();
  fs::create_directories(Path("one"));
  std::ofstream(Path("one/precious")) << "data";
  EXPECT_THAT(shard_->Checkpoint(Path("one")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(Path("one")), HasSubstr("already"))));
  EXPECT_TRUE(fs::exists(Path("one/precious")));
}

TEST_P(CheckpointTest, NeedsACommit) {
  EXPECT_THAT(shard_->Checkpoint(Path("one")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("commit first")));
  EXPECT_FALSE(fs::exists(Path("one")));
}

TEST_P(CheckpointTest, AnErrorLeavesNothingBehind) {
  Write(shard_, "v");
  shard_.Commit();
  std::ofstream(Path("file")) << "in the way";
  EXPECT_FALSE(shard_->Checkpoint(Path("file/one")).ok());
  EXPECT_TRUE(fs::is_regular_file(Path("file")));
  ASSERT_THAT(shard_->Checkpoint(Path("one")), IsOk());
}

// An empty store, one that never held anything and one of which everything has
// expired, goes through like any other.
TEST_P(CheckpointTest, CaseC70AnEmptyStoreIsRestored) {
  const auto round = [&](const std::string& name) {
    ASSERT_THAT(shard_->Checkpoint(Path(name)), IsOk());
    OpenOn(shard_, Path(name));
    auto& value = shard_.Get(Describe<Value>("value", Ttl(1000)));
    EXPECT_EQ(shard_.StoredEntries("value"), 0u);
    shard_->SetCurrentKey("k");
    Must(value.Update("v"));
    shard_.Commit();
    ASSERT_THAT(shard_->Checkpoint(Path(name + "-1")), IsOk());
    OpenOn(shard_, Path(name + "-1"));
    EXPECT_EQ(Read(shard_.Get(Describe<Value>("value", Ttl(1000)))), "v");
    EXPECT_EQ(shard_.StoredEntries("value"), 1u);
  };
  shard_.Commit();
  round("fresh");
  shard_.clock().SetMs(2000);
  shard_.Commit();
  Must(shard_->CleanUp().status());
  shard_.Commit();
  Must(shard_->Compact());
  round("expired");
}

TEST(CheckpointOfMemoryTest, IsRefused) {
  BackendOptions options;
  options.kind = BackendKind::kHeap;
  const auto backend = KeyedStateBackend<std::string>::Open(options).value();
  Must(backend->Commit());
  const TempDirectory directory;
  EXPECT_THAT(backend->Checkpoint(directory.Path("one")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("without a directory")));
}

}  // namespace
}  // namespace mayfly::state_test
