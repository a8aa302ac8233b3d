// What the shard removes from a state for having expired, for others to read.
#pragma once

#include <atomic>
#include <cstdint>

namespace mayfly::state_internal {

// A figure that one thread adds to and any may read: no instruction of it is
// dearer than that of a plain number.
class SharedCounter {
 public:
  void Add(std::uint64_t count) {
    value_.store(value_.load(std::memory_order_relaxed) + count,
                 std::memory_order_relaxed);
  }
  std::uint64_t Read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// Entries that one way of clean-up has removed.
class RemovalCounter {
 public:
  void Add(std::uint64_t entries, std::uint64_t bytes) {
    entries_.Add(entries);
    bytes_.Add(bytes);
  }
  std::uint64_t entries() const { return entries_.Read(); }
  std::uint64_t bytes() const { return bytes_.Read(); }

 private:
  SharedCounter entries_;
  SharedCounter bytes_;
};

// Threads: one adds; any read.
struct RemovalCounters {
  RemovalCounter reads;
  RemovalCounter incremental;
};

}  // namespace mayfly::state_internal
