// A thread that writes what another one has made, so that the maker need not
// wait for the disk.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mayfly::state_internal {

// Does tasks one after another, in the order in which they come.
// Threads: one, beside its own.
class WriterThread {
 public:
  using Task = std::function<void()>;

  // Who adds tasks that hold more bytes than this waits until there is room.
  static constexpr std::size_t kWaitingBytesMax = std::size_t{16} << 20;

  WriterThread();
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  // Drops the tasks that have not begun.
  ~WriterThread();

  // Has a task done that holds so many bytes. If the system has no thread for
  // us it is done at once, by the caller's.
  void Add(std::size_t bytes, Task task);

  // Waits until all tasks are done.
  void Drain();

 private:
  struct Waiting {
    std::size_t bytes;
    Task task;
  };

  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  // Down to the thread all are guarded by mutex_.
  std::deque<Waiting> tasks_;
  // Of all tasks that are not done, the one under way included.
  std::size_t bytes_ = 0;
  bool idle_ = true;
  bool stopped_ = false;
  // Not joinable: there is none.
  std::thread thread_;
};

}  // namespace mayfly::state_internal
