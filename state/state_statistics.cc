#include "mayfly/state/state_statistics.h"

#include <algorithm>

namespace mayfly {
namespace {

void Add(const StateDiskUse& other, StateDiskUse& sum) {
  sum.files += other.files;
  sum.bytes += other.bytes;
  sum.entries += other.entries;
  sum.expired_bytes += other.expired_bytes;
  sum.expired_entries += other.expired_entries;
  sum.expired_bytes_by.resize(
      std::max(sum.expired_bytes_by.size(), other.expired_bytes_by.size()));
  for (std::size_t i = 0; i < other.expired_bytes_by.size(); ++i) {
    sum.expired_bytes_by[i] += other.expired_bytes_by[i];
  }
  sum.oldest_ms = std::min(sum.oldest_ms, other.oldest_ms);
  sum.purge_clock_ms = std::min(sum.purge_clock_ms, other.purge_clock_ms);
  sum.bytes_of_unknown_age += other.bytes_of_unknown_age;
  if (sum.unreadable.empty()) sum.unreadable = other.unreadable;
}

void Add(const StateCleanup& other, StateCleanup& sum) {
  sum.reads += other.reads;
  sum.incremental += other.incremental;
  sum.compactions += other.compactions;
  sum.merge_elements += other.merge_elements;
  sum.sweeps += other.sweeps;
  sum.records_unreadable += other.records_unreadable;
}

}  // namespace

Removed& Removed::operator+=(const Removed& other) {
  entries += other.entries;
  bytes += other.bytes;
  return *this;
}

StateStatistics& StateStatistics::operator+=(const StateStatistics& other) {
  live_entries += other.live_entries;
  expired_entries += other.expired_entries;
  bytes += other.bytes;
  expired_bytes += other.expired_bytes;
  exact = exact && other.exact;
  Add(other.disk, disk);
  Add(other.cleanup, cleanup);
  return *this;
}

}  // namespace mayfly
