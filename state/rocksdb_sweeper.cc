#include "state/rocksdb_sweeper.h"

#include <algorithm>
#include <utility>

#include "mayfly/serde/status_macros.h"

namespace mayfly::state_internal {
namespace {

// Part of a file's bytes on disk, by its part of bytes before compression.
std::uint64_t OnDisk(const FileExpiry& file, std::uint64_t bytes) {
  if (file.times->bytes() == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(file.bytes) *
                                    static_cast<double>(bytes) /
                                    static_cast<double>(file.times->bytes()));
}

void Count(const FileExpiry& file, const PurgePoint& purge,
           const std::vector<TimestampMs>& expired_by_ms, StateDiskUse& use) {
  ++use.files;
  use.bytes += file.bytes;
  if (!file.times) {
    use.bytes_of_unknown_age += file.bytes;
    return;
  }
  const auto expired_at = [&](TimestampMs now_ms) {
    return OnDisk(file,
                  file.times->BytesThrough(purge.rule.ExpiredThrough(now_ms)));
  };
  use.expired_bytes += expired_at(purge.now_ms);
  for (std::size_t i = 0; i < expired_by_ms.size(); ++i) {
    use.expired_bytes_by[i] += expired_at(expired_by_ms[i]);
  }
  use.entries += file.times->entries();
  use.oldest_ms =
      std::min(use.oldest_ms, file.times->oldest_ms().value_or(kNeverExpires));
}

}  // namespace

void RocksdbSweeper::Add(const std::string& state, rocksdb::DB* db,
                         rocksdb::ColumnFamilyHandle* column_family,
                         std::shared_ptr<ColumnFamilyTtl> ttl) {
  const std::lock_guard lock(mutex_);
  auto sweep = std::make_unique<ExpirySweep>(db, column_family, ttl);
  states_[state] = {std::move(ttl), std::move(sweep)};
}

void RocksdbSweeper::Close() {
  const std::lock_guard lock(mutex_);
  states_.clear();
}

absl::StatusOr<SweepReport> RocksdbSweeper::Sweep(const SweepOptions& options,
                                                  TimestampMs now_ms) {
  const std::lock_guard lock(mutex_);
  SweepReport total;
  for (auto& [name, state] : states_) {
    MAYFLY_ASSIGN_OR_RETURN(const SweepReport report,
                            state.sweep->Run(options, now_ms));
    total += report;
  }
  return total;
}

absl::StatusOr<std::vector<StateDiskUse>> RocksdbSweeper::DiskUse(
    const std::vector<TimestampMs>& expired_by_ms) {
  const std::lock_guard lock(mutex_);
  std::vector<StateDiskUse> all;
  for (const auto& [name, state] : states_) {
    StateDiskUse& use = all.emplace_back();
    use.state = name;
    use.expired_bytes_by.assign(expired_by_ms.size(), 0);
    use.swept = state.sweep->totals();
    // A clock that cannot tell the time lets nothing expire.
    const PurgePoint purge = state.ttl->ReadPurgePoint().value_or(PurgePoint{});
    MAYFLY_ASSIGN_OR_RETURN(const std::vector<FileExpiry> files,
                            state.sweep->Files());
    for (const FileExpiry& file : files) {
      Count(file, purge, expired_by_ms, use);
    }
  }
  return all;
}

}  // namespace mayfly::state_internal
