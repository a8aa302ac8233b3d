#include "state/writer_thread.h"

#include <system_error>
#include <utility>

namespace mayfly::state_internal {

WriterThread::WriterThread() {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // Add() does it all.
  }
}

WriterThread::~WriterThread() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WriterThread::Add(std::size_t bytes, Task task) {
  if (!thread_.joinable()) {
    task();
    return;
  }
  std::unique_lock lock(mutex_);
  // One that is larger than all the room there is waits for all of it.
  changed_.wait(
      lock, [&] { return bytes_ == 0 || bytes_ + bytes <= kWaitingBytesMax; });
  bytes_ += bytes;
  tasks_.push_back({bytes, std::move(task)});
  changed_.notify_all();
}

void WriterThread::Drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty() && idle_; });
}

void WriterThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !tasks_.empty(); });
    if (stopped_) return;
    Waiting next = std::move(tasks_.front());
    tasks_.pop_front();
    idle_ = false;
    lock.unlock();
    next.task();
    // Not under the lock: it may hold much.
    next.task = nullptr;
    lock.lock();
    bytes_ -= next.bytes;
    idle_ = true;
    changed_.notify_all();
  }
}

}  // namespace mayfly::state_internal
