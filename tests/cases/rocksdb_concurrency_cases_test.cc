// Cases C16, C17 and C46 with the compaction threads of RocksDB at work, which
// nobody asks for: write buffers are so small that they fill and are flushed
// and compacted all the time.
//
// Not for the thread sanitizer, to which RocksDB's own lock-free reads look
// like races.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/disk_sweeper.h"
#include "mayfly/state/sweep_scheduler.h"
#include "tests/cases/shard_threads.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::cases {
namespace {

using state_test::Describe;
using state_test::Must;
using state_test::Read;
using state_test::Shard;
using state_test::Ttl;
using ::testing::SizeIs;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::int32_t, std::string>;

std::shared_ptr<StorageResources> LittleMemory() {
  return StorageResources::Create({.memory_bytes = std::size_t{1} << 20})
      .value();
}

TEST(RocksdbConcurrencyCasesTest, CaseC46ShardsKeepTheirKeysApart) {
  ExpectShardsToKeepTheirKeysApart(BackendKind::kRocksdb, 100'000,
                                   LittleMemory());
}

// Keys with a value, a hundred list elements and a hundred map entries, each
// read when it is a moment from its deadline or past it.
class KeysNearTheirDeadline {
 public:
  static constexpr std::int64_t kTtlMs = 10'000;
  static constexpr TimestampMs kStart = 1'700'000'000'000;

  KeysNearTheirDeadline() {
    shard_.options.storage = LittleMemory();
    shard_.Reopen();
    const StateTtlConfig ttl = Ttl(kTtlMs, UpdateType::kOnReadAndWrite);
    value_ = &shard_.Get(Describe<Text>("value", ttl));
    list_ = &shard_.Get(Describe<Texts>("list", ttl));
    map_ = &shard_.Get(Describe<Map>("map", ttl));
  }

  // Goes on to a moment about a random key's deadline, and reads it.
  void Step() {
    const std::size_t key = random_() % expires_ms_.size();
    std::optional<TimestampMs>& expires_ms = expires_ms_[key];
    shard_->SetCurrentKey(std::to_string(key));
    if (expires_ms && *expires_ms - 1 > now_ms_ && Coin()) {
      now_ms_ = *expires_ms - (Coin() ? 1 : 0);
      shard_.clock().SetMs(now_ms_);
    }
    const bool live = expires_ms && now_ms_ < *expires_ms;
    ASSERT_EQ(Read(*value_).has_value(), live);
    ASSERT_THAT(Read(*list_), SizeIs(live ? 100 : 0));
    ASSERT_THAT(Read(*map_), SizeIs(live ? 100 : 0));
    if (!live) Write();
    expires_ms = now_ms_ + kTtlMs;
    if (Coin()) shard_.Commit();
  }

  std::shared_ptr<DiskSweeper> disk_sweeper() { return shard_->disk_sweeper(); }
  std::shared_ptr<const StateMonitor> monitor() { return shard_->monitor(); }
  std::shared_ptr<const TtlClock> clock() {
    return shard_.options.processing_clock;
  }

  // How many records were written for each that is still on disk.
  std::uint64_t WrittenPerRecordLeft() {
    shard_.Commit();
    shard_.Close();
    state_test::RawDatabase raw(shard_.options.directory);
    return raw.SequenceNumber() /
           (raw.Records("value") + raw.Records("list") + raw.Records("map"));
  }

 private:
  bool Coin() { return random_() % 2 == 0; }

  // Over what has expired, and what clean-up may just be removing.
  void Write() {
    const std::string payload(100, static_cast<char>('a' + random_() % 26));
    Must(value_->Update(payload));
    Must(list_->AddAll(std::vector<std::string>(100, payload)));
    for (int i = 0; i < 100; ++i) Must(map_->Put(i, payload));
  }

  Shard<> shard_{state_test::kRocksdbTinyTable, kStart};
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::int32_t, std::string>* map_ = nullptr;
  TimestampMs now_ms_ = kStart;
  // Of each key that was written.
  std::vector<std::optional<TimestampMs>> expires_ms_ =
      std::vector<std::optional<TimestampMs>>(20);
  std::mt19937 random_{17};
};

TEST(RocksdbConcurrencyCasesTest,
     CaseC16AndCaseC17CompactionsTakeNothingThatWasRenewedOrWritten) {
  KeysNearTheirDeadline keys;
  for (int step = 0; step < 2000; ++step) {
    SCOPED_TRACE(step);
    keys.Step();
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(keys.WrittenPerRecordLeft(), 5u) << "nothing was compacted";
}

TEST(RocksdbConcurrencyCasesTest,
     CaseC16AndCaseC17SweepsTakeNothingThatWasRenewedOrWritten) {
  KeysNearTheirDeadline keys;
  const std::shared_ptr<const StateMonitor> monitor = keys.monitor();
  SweepScheduler scheduler({.sweep = {.expired_share = 0.01,
                                      .staleness_max = std::chrono::seconds(1)},
                            .interval = std::chrono::seconds(1)},
                           keys.clock());
  scheduler.Add("shard", keys.disk_sweeper());
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (; !done; std::this_thread::yield()) scheduler.RunDue();
  });
  threads.emplace_back([&] {
    for (; !done; std::this_thread::yield()) monitor->Read({});
  });
  for (int step = 0; step < 2000 && !::testing::Test::HasFatalFailure();
       ++step) {
    SCOPED_TRACE(step);
    keys.Step();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (const SweepRecord& record : scheduler.History()) {
    EXPECT_TRUE(record.status.ok()) << record.status;
  }
  const SweepReport totals = scheduler.totals();
  EXPECT_GT(totals.files_dropped + totals.compactions, 0u);
  EXPECT_GT(totals.flushes, 0u);
}

}  // namespace
}  // namespace mayfly::cases
