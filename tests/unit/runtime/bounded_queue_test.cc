#include "runtime/bounded_queue.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "gtest/gtest.h"

namespace mayfly::runtime_internal {
namespace {

constexpr std::chrono::milliseconds kNoWait{0};

TEST(BoundedQueueTest, GivesItemsInTheirOrder) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.Push(1));
  EXPECT_TRUE(queue.Push(2));
  int item = 0;
  EXPECT_EQ(queue.Pop(std::nullopt, item), PopResult::kItem);
  EXPECT_EQ(item, 1);
  EXPECT_EQ(queue.Pop(std::nullopt, item), PopResult::kItem);
  EXPECT_EQ(item, 2);
}

TEST(BoundedQueueTest, TakesWhatCanOnlyBeMoved) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  queue.Push(std::make_unique<int>(7));
  std::unique_ptr<int> item;
  EXPECT_EQ(queue.Pop(std::nullopt, item), PopResult::kItem);
  EXPECT_EQ(*item, 7);
}

TEST(BoundedQueueTest, WaitsNoLongerThanAsked) {
  BoundedQueue<int> queue(1);
  int item = 0;
  EXPECT_EQ(queue.Pop(kNoWait, item), PopResult::kTimeout);
}

TEST(BoundedQueueTest, AClosedQueueGivesWhatItHolds) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close();
  int item = 0;
  EXPECT_EQ(queue.Pop(kNoWait, item), PopResult::kItem);
  EXPECT_EQ(queue.Pop(kNoWait, item), PopResult::kClosed);
  EXPECT_EQ(queue.Pop(std::nullopt, item), PopResult::kClosed);
}

TEST(BoundedQueueTest, ACancelledQueueGivesAndTakesNothing) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  EXPECT_FALSE(queue.cancelled());
  queue.Cancel();
  EXPECT_TRUE(queue.cancelled());
  int item = 0;
  EXPECT_EQ(queue.Pop(std::nullopt, item), PopResult::kCancelled);
  EXPECT_FALSE(queue.Push(2));
}

TEST(BoundedQueueTest, CancellingEndsTheWaitForAnItem) {
  BoundedQueue<int> queue(1);
  PopResult result = PopResult::kItem;
  std::thread taker([&] {
    int item = 0;
    result = queue.Pop(std::nullopt, item);
  });
  queue.Cancel();
  taker.join();
  EXPECT_EQ(result, PopResult::kCancelled);
}

TEST(BoundedQueueTest, CancellingEndsTheWaitForRoom) {
  BoundedQueue<int> queue(1);
  queue.Push(1);
  bool pushed = true;
  std::thread giver([&] { pushed = queue.Push(2); });
  queue.Cancel();
  giver.join();
  EXPECT_FALSE(pushed);
}

TEST(BoundedQueueTest, ClosingEndsTheWaitForAnItem) {
  BoundedQueue<int> queue(1);
  PopResult result = PopResult::kItem;
  std::thread taker([&] {
    int item = 0;
    result = queue.Pop(std::nullopt, item);
  });
  queue.Close();
  taker.join();
  EXPECT_EQ(result, PopResult::kClosed);
}

TEST(BoundedQueueTest, NeverHoldsMoreThanItsCapacity) {
  constexpr int kItems = 20'000;
  constexpr int kCapacity = 3;
  BoundedQueue<int> queue(kCapacity);
  std::atomic<int> pushed = 0;
  std::thread giver([&] {
    for (int i = 0; i < kItems; ++i) {
      queue.Push(i);
      ++pushed;
    }
    queue.Close();
  });
  int item = 0;
  int taken = 0;
  int held_max = 0;
  while (true) {
    held_max = std::max(held_max, pushed.load() - taken);
    if (queue.Pop(std::nullopt, item) != PopResult::kItem) break;
    EXPECT_EQ(item, taken);
    ++taken;
  }
  giver.join();
  EXPECT_EQ(taken, kItems);
  EXPECT_LE(held_max, kCapacity);
}

}  // namespace
}  // namespace mayfly::runtime_internal
