#include "state/writer_thread.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mayfly::state_internal {
namespace {

using ::testing::ElementsAre;

TEST(WriterThreadTest, DoesTasksInTheirOrderOnAThreadOfItsOwn) {
  std::vector<int> done;
  std::thread::id thread;
  WriterThread writer;
  writer.Add(0, [&] {
    done.push_back(1);
    thread = std::this_thread::get_id();
  });
  writer.Add(100, [&] { done.push_back(2); });
  writer.Add(0, [&] { done.push_back(3); });
  writer.Drain();
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(WriterThreadTest, WhoAddsTooMuchWaits) {
  constexpr std::size_t kPiece = WriterThread::kWaitingBytesMax / 8;
  std::atomic<int> added = 0;
  int added_while_full = 0;
  WriterThread writer;
  writer.Add(kPiece, [&] {
    // The others fill what room is left, and one more has to wait.
    while (added < 7) std::this_thread::yield();
    for (int i = 0; i < 10'000; ++i) std::this_thread::yield();
    added_while_full = added;
  });
  for (int i = 0; i < 20; ++i) {
    writer.Add(kPiece, [] {});
    ++added;
  }
  writer.Drain();
  EXPECT_EQ(added_while_full, 7);
}

TEST(WriterThreadTest, ATaskLargerThanAllTheRoomIsDone) {
  int done = 0;
  WriterThread writer;
  writer.Add(1, [&] { ++done; });
  writer.Add(2 * WriterThread::kWaitingBytesMax, [&] { ++done; });
  writer.Add(1, [&] { ++done; });
  writer.Drain();
  EXPECT_EQ(done, 3);
}

// What a task holds is gone by the time that it counts as done.
TEST(WriterThreadTest, DrainedItHoldsNothing) {
  const auto held = std::make_shared<int>(7);
  WriterThread writer;
  writer.Add(0, [held] {});
  writer.Drain();
  EXPECT_EQ(held.use_count(), 1);
}

// A stack for which no address space is wide enough stands for a system that
// has no thread to give.
TEST(WriterThreadTest, WithoutAThreadTheCallerDoesIt) {
  pthread_attr_t usual;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  pthread_attr_t huge = usual;
  ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 60), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
  std::thread::id thread;
  {
    WriterThread writer;
    ASSERT_EQ(::pthread_setattr_default_np(&usual), 0);
    writer.Add(0, [&] { thread = std::this_thread::get_id(); });
    EXPECT_EQ(thread, std::this_thread::get_id());
    writer.Drain();
  }
}

}  // namespace
}  // namespace mayfly::state_internal
