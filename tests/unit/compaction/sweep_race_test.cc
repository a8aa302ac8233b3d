// Sweeps, compactions and flushes on threads of their own while somebody
// writes, reads, refreshes, clears, holds snapshots and iterators and takes
// checkpoints: what lives stays, in all of them. Not for the thread sanitizer,
// to which RocksDB's own lock-free reads look like races.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "mayfly/compaction/expiry_sweep.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/testing/temp_directory.h"
#include "rocksdb/utilities/checkpoint.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

constexpr int kKeys = 200;

class SweepRaceTest : public ::testing::Test {
 protected:
  using Model = std::map<std::string, std::string>;

  ~SweepRaceTest() override { StopThreads(); }

  // Threads that do nothing but rewrite files.
  void StartThreads() {
    threads_.emplace_back([this] {
      ExpirySweep sweep(&database_.db(), database_.handle(),
                        database_.shared_ttl());
      for (int i = 0; !done_; ++i) {
        const SweepOptions options{
            .expired_share = i % 2 == 0 ? 0.001 : 0.5,
            .staleness_max = std::chrono::milliseconds(1000)};
        const auto report = sweep.Run(options, database_.clock().now_ms);
        ASSERT_TRUE(report.ok()) << report.status();
      }
      dropped_ = sweep.totals().files_dropped;
    });
    threads_.emplace_back([this] {
      for (; !done_; std::this_thread::yield()) database_.Flush();
    });
    threads_.emplace_back([this] {
      // Down, and not again before what went down has expired: so that there
      // are files to drop whole.
      rocksdb::CompactRangeOptions options;
      options.bottommost_level_compaction =
          rocksdb::BottommostLevelCompaction::kSkip;
      for (TimestampMs due = 0; !done_; std::this_thread::yield()) {
        if (database_.clock().now_ms < due) continue;
        due = database_.clock().now_ms + 2 * kTtlMs;
        ASSERT_TRUE(
            database_.db()
                .CompactRange(options, database_.handle(), nullptr, nullptr)
                .ok());
      }
    });
  }

  void StopThreads() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  int Below(int bound) {
    return static_cast<int>(random_() % static_cast<unsigned>(bound));
  }

  // Writes, reads, refreshes or clears a key.
  void Step() {
    const std::string key = std::to_string(Below(kKeys));
    const TimestampMs now = database_.clock().now_ms;
    switch (Below(8)) {
      case 0:
        database_.Delete(key);
        model_.erase(key);
        return;
      case 1:
        database_.clock().now_ms = now + 1;
        return;
      case 2:
      case 3:
      case 4:
        // Some expire before what they replace does.
        database_.Put(key, model_[key] = Entry(now - Below(kTtlMs)));
        return;
      default:
        ASSERT_EQ(Live(database_.Get(key)), LiveInModel(model_, key)) << key;
        return;
    }
  }

  // What a reader may see of stored bytes.
  std::optional<std::string> Live(const std::optional<std::string>& stored) {
    if (!stored) return std::nullopt;
    const auto entry = DecodeEntry(*stored);
    const bool live =
        entry && !database_.ttl().rule().IsExpired(entry->timestamp_ms,
                                                   database_.clock().now_ms);
    return live ? stored : std::nullopt;
  }
  std::optional<std::string> LiveInModel(const Model& model,
                                         const std::string& key) {
    const auto found = model.find(key);
    if (found == model.end()) return std::nullopt;
    return Live(found->second);
  }

  // All that lives, as a walk finds it.
  Model LiveIn(rocksdb::Iterator& iterator) {
    Model live;
    for (iterator.SeekToFirst(); iterator.Valid(); iterator.Next()) {
      const std::string stored = iterator.value().ToString();
      if (Live(stored)) live[iterator.key().ToString()] = stored;
    }
    EXPECT_TRUE(iterator.status().ok());
    return live;
  }
  Model LiveIn(const Model& model) {
    Model live;
    for (const auto& [key, stored] : model) {
      if (Live(stored)) live[key] = stored;
    }
    return live;
  }

  TestDatabase database_{EntryLayout::kValue};
  Model model_;
  std::mt19937_64 random_{7};
  std::atomic<bool> done_ = false;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::vector<std::thread> threads_;
};

TEST_F(SweepRaceTest, WhatLivesStaysForReadersIteratorsAndSnapshots) {
  StartThreads();
  for (int round = 0; round < 40; ++round) {
    // Both show what was there when they were made.
    const std::unique_ptr<rocksdb::Iterator> iterator(
        database_.db().NewIterator({}, database_.handle()));
    rocksdb::ManagedSnapshot snapshot(&database_.db());
    const Model then = model_;
    for (int step = 0; step < 3000; ++step) {
      ASSERT_NO_FATAL_FAILURE(Step());
    }
    ASSERT_EQ(LiveIn(*iterator), LiveIn(then)) << round;
    for (const auto& [key, stored] : LiveIn(then)) {
      ASSERT_EQ(database_.Get(key, snapshot.snapshot()), stored) << key;
    }
  }
  StopThreads();
  EXPECT_GT(dropped_, 0u);
}

TEST_F(SweepRaceTest, CaseC68CheckpointsHoldWhatLivedWhenTheyWereTaken) {
  const TempDirectory directory;
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(&database_.db(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  StartThreads();
  for (int round = 0; round < 200; ++round) {
    for (int step = 0; step < 50; ++step) {
      ASSERT_NO_FATAL_FAILURE(Step());
    }
    const std::string path = directory.Path(std::to_string(round));
    const rocksdb::Status taken = checkpoint->CreateCheckpoint(path);
    ASSERT_TRUE(taken.ok()) << taken.ToString();
    rocksdb::DB* opened = nullptr;
    rocksdb::Options options;
    options.max_file_opening_threads = 1;  // By itself 16, for each checkpoint.
    const rocksdb::Status open =
        rocksdb::DB::OpenForReadOnly(options, path, &opened);
    ASSERT_TRUE(open.ok()) << open.ToString();
    const std::unique_ptr<rocksdb::DB> copy(opened);
    const std::unique_ptr<rocksdb::Iterator> iterator(copy->NewIterator({}));
    ASSERT_EQ(LiveIn(*iterator), LiveIn(model_)) << round;
    std::filesystem::remove_all(path);
  }
  StopThreads();
  EXPECT_GT(database_.ttl().counters().records_removed, 0);
}

}  // namespace
}  // namespace mayfly::compaction_test
