#include "state/traffic_limiter.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "gtest/gtest.h"

namespace mayfly::state_internal {
namespace {

constexpr auto kPriority = rocksdb::Env::IO_LOW;

std::chrono::milliseconds TimeOf(TrafficLimiter& limiter, std::int64_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  limiter.Request(bytes, kPriority, nullptr);
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
}

// It may always take longer; never less.
TEST(TrafficLimiterTest, ALimitCountsFromTheMomentItIsSet) {
  TrafficLimiter limiter;
  limiter.Request(std::int64_t{1} << 40, kPriority, nullptr);
  limiter.SetLimit(1'000'000);
  EXPECT_GE(TimeOf(limiter, 400'000).count(), 200);
  limiter.SetLimit(0);
  limiter.Request(std::int64_t{1} << 40, kPriority, nullptr);
  limiter.SetLimit(1'000'000'000);
  limiter.SetLimit(1'000'000);
  EXPECT_GE(TimeOf(limiter, 400'000).count(), 200);
}

TEST(TrafficLimiterTest, TellsItsLimitAndWhatWentThrough) {
  TrafficLimiter limiter;
  EXPECT_EQ(limiter.limit(), 0u);
  limiter.SetLimit(5'000'000'000);
  EXPECT_EQ(limiter.limit(), 5'000'000'000u);
  EXPECT_EQ(limiter.GetBytesPerSecond(), 5'000'000'000);
  limiter.Request(10, rocksdb::Env::IO_LOW, nullptr);
  limiter.Request(20, rocksdb::Env::IO_HIGH, nullptr);
  EXPECT_EQ(limiter.GetTotalBytesThrough(rocksdb::Env::IO_LOW), 10);
  EXPECT_EQ(limiter.GetTotalBytesThrough(rocksdb::Env::IO_TOTAL), 30);
  EXPECT_EQ(limiter.GetTotalRequests(rocksdb::Env::IO_TOTAL), 2);
}

// RocksDB's own one aborts the process when its burst shrinks meanwhile.
TEST(TrafficLimiterTest, TheLimitMayChangeWhileOthersAsk) {
  TrafficLimiter limiter;
  std::atomic<bool> done = false;
  std::thread asker([&] {
    while (!done) limiter.Request(1'000'000, kPriority, nullptr);
  });
  for (int i = 0; i < 20'000; ++i) {
    limiter.SetLimit(i % 2 == 0 ? 0 : 4'000'000'000);
  }
  done = true;
  asker.join();
}

}  // namespace
}  // namespace mayfly::state_internal
