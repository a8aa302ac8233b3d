// A database as other threads than its shard's see it: what they sweep, and the
// figures of it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "mayfly/compaction/expiry_sweep.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/state/disk_sweeper.h"
#include "rocksdb/db.h"
#include "state/shard_monitor.h"

namespace mayfly::state_internal {

// Threads: any.
class RocksdbSweeper final : public DiskSweeper, public StoredFigures {
 public:
  // A state whose column family is open. It is swept from now on, unless its
  // `ttl` is null.
  void Add(const std::string& state, rocksdb::DB* db,
           rocksdb::ColumnFamilyHandle* column_family,
           std::shared_ptr<ColumnFamilyTtl> ttl);

  // Waits for whatever is under way, and is the last that touches the database.
  void Close();

  absl::StatusOr<SweepReport> Sweep(const SweepOptions& options,
                                    TimestampMs now_ms) override;

  // Does not wait for a sweep.
  absl::Status AddTo(
      const std::vector<TimestampMs>& expired_by_ms,
      std::map<std::string, StateStatistics>& states) const override;

 private:
  struct State {
    rocksdb::DB* db = nullptr;
    rocksdb::ColumnFamilyHandle* column_family = nullptr;
    // Both null without TTL.
    std::shared_ptr<ColumnFamilyTtl> ttl;
    std::unique_ptr<ExpirySweep> sweep;
  };

  // Held by whoever sweeps.
  std::mutex sweeping_;
  mutable std::shared_mutex open_;
  std::map<std::string, State> states_;  // Guarded by open_.
};

}  // namespace mayfly::state_internal
