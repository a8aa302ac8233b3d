#include "state/traffic_limiter.h"

#include <algorithm>
#include <limits>

namespace mayfly::state_internal {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

}  // namespace

void TrafficLimiter::SetLimit(std::uint64_t bytes_per_second) {
  const auto limit = static_cast<std::int64_t>(
      std::min(bytes_per_second, std::uint64_t{kUnlimited}));
  std::shared_ptr<rocksdb::RateLimiter> limiter;
  if (limit > 0) limiter.reset(rocksdb::NewGenericRateLimiter(limit));
  const std::lock_guard lock(mutex_);
  limit_ = bytes_per_second;
  // Whoever waits in the one before keeps it alive.
  limiter_ = std::move(limiter);
}

std::uint64_t TrafficLimiter::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

void TrafficLimiter::Request(std::int64_t bytes,
                             rocksdb::Env::IOPriority priority,
                             rocksdb::Statistics* statistics) {
  bytes_.at(priority) += bytes;
  ++requests_.at(priority);
  std::shared_ptr<rocksdb::RateLimiter> limiter;
  {
    const std::lock_guard lock(mutex_);
    limiter = limiter_;
  }
  if (limiter == nullptr) return;
  const std::int64_t burst = limiter->GetSingleBurstBytes();
  for (; bytes > 0; bytes -= burst) {
    limiter->Request(std::min(bytes, burst), priority, statistics);
  }
}

std::int64_t TrafficLimiter::GetSingleBurstBytes() const { return kUnlimited; }

std::int64_t TrafficLimiter::GetTotalBytesThrough(
    rocksdb::Env::IOPriority priority) const {
  return Sum(bytes_, priority);
}

std::int64_t TrafficLimiter::GetTotalRequests(
    rocksdb::Env::IOPriority priority) const {
  return Sum(requests_, priority);
}

std::int64_t TrafficLimiter::GetBytesPerSecond() const {
  const std::uint64_t limited = limit();
  return limited == 0 ? kUnlimited
                      : static_cast<std::int64_t>(
                            std::min(limited, std::uint64_t{kUnlimited}));
}

std::int64_t TrafficLimiter::Sum(const Counts& counts,
                                 rocksdb::Env::IOPriority priority) {
  if (priority != rocksdb::Env::IO_TOTAL) return counts.at(priority);
  std::int64_t sum = 0;
  for (const auto& count : counts) sum += count;
  return sum;
}

}  // namespace mayfly::state_internal
