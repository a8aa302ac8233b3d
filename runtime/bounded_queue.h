// Hands work from one thread to another and makes the giver wait when the taker
// falls behind.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/mutex.h"

namespace mayfly::runtime_internal {

enum class PopResult : std::uint8_t {
  kItem,
  kTimeout,
  // Closed, and all that was in it has been taken.
  kClosed,
  kCancelled,
};

// Threads: any.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Waits until there is room. False if the queue has been cancelled.
  bool Push(T item) {
    MutexLock lock(mutex_);
    while (items_.size() >= capacity_ && !cancelled_) changed_.Wait(mutex_);
    if (cancelled_) return false;
    items_.push_back(std::move(item));
    changed_.SignalAll();
    return true;
  }

  // Waits for the next item, about as long as `wait_max` if that is given.
  PopResult Pop(std::optional<std::chrono::milliseconds> wait_max, T& item) {
    MutexLock lock(mutex_);
    while (items_.empty() && !closed_ && !cancelled_) {
      if (!wait_max) {
        changed_.Wait(mutex_);
      } else if (!changed_.WaitFor(mutex_, *wait_max)) {
        break;
      }
    }
    if (cancelled_) return PopResult::kCancelled;
    if (items_.empty()) {
      return closed_ ? PopResult::kClosed : PopResult::kTimeout;
    }
    item = std::move(items_.front());
    items_.pop_front();
    changed_.SignalAll();
    return PopResult::kItem;
  }

  // Nothing will be pushed any more; what is in it can still be taken.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.SignalAll();
  }

  // Ends all waits and drops what is in it.
  void Cancel() {
    MutexLock lock(mutex_);
    cancelled_ = true;
    items_.clear();
    changed_.SignalAll();
  }

  bool cancelled() const {
    MutexLock lock(mutex_);
    return cancelled_;
  }

 private:
  const std::size_t capacity_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace mayfly::runtime_internal
