// The monitor of a shard that is at work, read by another thread while a third
// one sweeps the disk.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "mayfly/state/state_monitor.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using std::chrono::milliseconds;
using Text = ValueStateDescriptor<std::string>;

constexpr std::int64_t kTtlMs = 100'000;
constexpr SweepOptions kOptions{.staleness_max = milliseconds(10'000)};

// Of the only state.
std::uint64_t RemovedByReads(const StateMonitor& monitor) {
  return monitor.Read({}).at(0).cleanup.reads.entries;
}

TEST(MonitorThreadsTest, IsReadWhileTheShardWorksAndIsSwept) {
  Shard<> shard(kRocksdbTinyTable);
  auto& value = shard.Get(Describe<Text>("value", Ttl(kTtlMs)));
  const std::shared_ptr<const StateMonitor> monitor = shard->monitor();
  const std::shared_ptr<DiskSweeper> sweeper = shard->disk_sweeper();
  std::atomic<bool> done = false;
  std::uint64_t removed = 0;
  std::thread reader([&] {
    while (!done) {
      const std::uint64_t seen = RemovedByReads(*monitor);
      // They only grow.
      EXPECT_GE(seen, removed);
      removed = seen;
    }
    removed = RemovedByReads(*monitor);
  });
  std::thread swept([&] {
    for (TimestampMs now = 0; !done; now += 10'000) {
      EXPECT_THAT(sweeper->Sweep(kOptions, now), IsOk());
    }
  });
  constexpr int kRounds = 50;
  for (int round = 1; round <= kRounds; ++round) {
    for (int key = 0; key < 20; ++key) {
      shard->SetCurrentKey("r" + std::to_string(key));
      Must(value.Update("v"));
    }
    shard.clock().Advance(milliseconds(kTtlMs));
    for (int key = 0; key < 20; ++key) {
      shard->SetCurrentKey("r" + std::to_string(key));
      EXPECT_EQ(Read(value), std::nullopt);
    }
    shard.Commit();
    Must(shard->Statistics(/*visits_max=*/10).status());
  }
  done = true;
  reader.join();
  swept.join();
  EXPECT_EQ(removed, kRounds * 20u);
}

}  // namespace
}  // namespace mayfly::state_test
