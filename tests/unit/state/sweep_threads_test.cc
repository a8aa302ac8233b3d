// Threads that sweep, add shards, pause and look at once: under the thread
// sanitizer, which RocksDB is compiled without, shards of our own stand for it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mayfly/state/sweep_scheduler.h"
#include "mayfly/testing/manual_clock.h"

namespace mayfly::state_test {
namespace {

constexpr int kConcurrency = 3;
constexpr std::uint64_t kSweeps = 5000;

// Counts how many sweeps run at once, here and of all.
class CountingSweeper final : public DiskSweeper {
 public:
  explicit CountingSweeper(std::atomic<int>* running) : running_(running) {}

  absl::StatusOr<SweepReport> Sweep(const SweepOptions&, TimestampMs) override {
    EXPECT_EQ(++running_here_, 1);
    EXPECT_LE(++*running_, kConcurrency);
    ++sweeps_;  // Guarded by nothing: no two sweeps of a shard run at once.
    --*running_;
    --running_here_;
    return SweepReport{.files_dropped = 1};
  }

  std::uint64_t sweeps() const { return sweeps_; }

 private:
  std::atomic<int>* const running_;
  std::atomic<int> running_here_ = 0;
  std::uint64_t sweeps_ = 0;
};

TEST(SweepThreadsTest, NoMoreSweepThanMayAndEachShardByItself) {
  const auto clock = std::make_shared<ManualClock>(0);
  std::atomic<int> running = 0;
  std::vector<std::shared_ptr<CountingSweeper>> sweepers;
  SweepScheduler scheduler({.interval = std::chrono::milliseconds(1000),
                            .concurrency = kConcurrency},
                           clock);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2 * kConcurrency; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        if (!scheduler.RunDue()) std::this_thread::yield();
      }
    });
  }
  threads.emplace_back([&] {
    for (; !done; std::this_thread::yield()) {
      clock->Advance(std::chrono::milliseconds(500));
    }
  });
  threads.emplace_back([&] {
    for (; !done; std::this_thread::yield()) {
      scheduler.Pause();
      EXPECT_LE(scheduler.History().size(), SweepScheduler::kHistoryMax);
      scheduler.Resume();
    }
  });
  for (int i = 0; i < 10; ++i) {
    sweepers.push_back(std::make_shared<CountingSweeper>(&running));
    scheduler.Add("shard-" + std::to_string(i), sweepers.back());
  }
  const std::uint64_t until = scheduler.totals().files_dropped + kSweeps;
  while (scheduler.totals().files_dropped < until) std::this_thread::yield();
  done = true;
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sweeps = 0;
  for (const auto& sweeper : sweepers) {
    EXPECT_GT(sweeper->sweeps(), 0u);
    sweeps += sweeper->sweeps();
  }
  EXPECT_EQ(sweeps, scheduler.totals().files_dropped);
}

}  // namespace
}  // namespace mayfly::state_test
