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
  // `ttl` is null. If the state had another one, waits until nobody uses that
  // any more; a sweep of other states holds nobody up.
  void Add(const std::string& state, rocksdb::DB* db,
           rocksdb::ColumnFamilyHandle* column_family,
           std::shared_ptr<ColumnFamilyTtl> ttl);

  // Ends whatever is under way, compactions too, waits for it, and is the last
  // that touches the database.
  void Close();

  absl::StatusOr<SweepReport> Sweep(const SweepOptions& options,
                                    TimestampMs now_ms) override;

  // Does not wait for a sweep.
  void AddTo(const std::vector<TimestampMs>& expired_by_ms,
             std::map<std::string, StateStatistics>& states) const override;

 private:
  struct State {
    rocksdb::DB* const db;
    rocksdb::ColumnFamilyHandle* const column_family;
    // Both null without TTL.
    const std::shared_ptr<ColumnFamilyTtl> ttl;
    const std::unique_ptr<ExpirySweep> sweep;
    // Held in common by whoever uses the column family, alone to retire it.
    std::shared_mutex use;
    bool retired = false;  // Guarded by use.

    // Has a sweep of it end soon.
    void Stop() const;
    // The column family may be closed afterwards.
    void Retire();
  };
  using States = std::map<std::string, std::shared_ptr<State>>;

  States Open() const;

  // Held by whoever sweeps.
  std::mutex sweeping_;
  mutable std::mutex mutex_;
  States states_;  // Guarded by mutex_.
};

}  // namespace mayfly::state_internal
