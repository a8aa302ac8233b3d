// Limits what databases write in the background, by a limit that may change.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rocksdb/rate_limiter.h"

namespace mayfly::state_internal {

// RocksDB's own limiter keeps what it was owed under an earlier limit, so that
// a lower one takes effect long after; and aborts the process if its burst
// shrinks between a caller's two looks at it. So there is a new one for each
// limit, and none without a limit.
// Threads: any.
class TrafficLimiter final : public rocksdb::RateLimiter {
 public:
  // Unit: bytes a second; 0 is no limit. What is already waiting waits on by
  // the limit before.
  void SetLimit(std::uint64_t bytes_per_second);
  std::uint64_t limit() const;

  void SetBytesPerSecond(std::int64_t bytes_per_second) override {
    SetLimit(static_cast<std::uint64_t>(bytes_per_second));
  }
  void Request(std::int64_t bytes, rocksdb::Env::IOPriority priority,
               rocksdb::Statistics* statistics) override;
  std::int64_t GetSingleBurstBytes() const override;
  std::int64_t GetTotalBytesThrough(
      rocksdb::Env::IOPriority priority) const override;
  std::int64_t GetTotalRequests(
      rocksdb::Env::IOPriority priority) const override;
  std::int64_t GetBytesPerSecond() const override;

 private:
  // One for each priority.
  using Counts = std::array<std::atomic<std::int64_t>, rocksdb::Env::IO_TOTAL>;

  static std::int64_t Sum(const Counts& counts,
                          rocksdb::Env::IOPriority priority);

  mutable std::mutex mutex_;
  std::uint64_t limit_ = 0;                        // Guarded by mutex_.
  std::shared_ptr<rocksdb::RateLimiter> limiter_;  // Guarded by mutex_.
  Counts bytes_ = {};
  Counts requests_ = {};
};

}  // namespace mayfly::state_internal
