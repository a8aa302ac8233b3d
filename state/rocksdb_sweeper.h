// The sweeps of one database.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "mayfly/compaction/expiry_sweep.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/state/disk_sweeper.h"
#include "rocksdb/db.h"

namespace mayfly::state_internal {

// Threads: any.
class RocksdbSweeper final : public DiskSweeper {
 public:
  // A state whose column family is open. It is swept from now on.
  void Add(const std::string& state, rocksdb::DB* db,
           rocksdb::ColumnFamilyHandle* column_family,
           std::shared_ptr<ColumnFamilyTtl> ttl);

  // Waits for a sweep that is under way, and is the last that touches the
  // database.
  void Close();

  absl::StatusOr<SweepReport> Sweep(const SweepOptions& options,
                                    TimestampMs now_ms) override;
  absl::StatusOr<std::vector<StateDiskUse>> DiskUse(
      const std::vector<TimestampMs>& expired_by_ms) override;

 private:
  struct State {
    std::shared_ptr<ColumnFamilyTtl> ttl;
    std::unique_ptr<ExpirySweep> sweep;
  };

  std::mutex mutex_;
  std::map<std::string, State> states_;  // Guarded by mutex_.
};

}  // namespace mayfly::state_internal
