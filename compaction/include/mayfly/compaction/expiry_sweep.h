// Makes the expired bytes of one column family leave the disk, also when nobody
// writes: RocksDB by itself compacts nothing then.
//
//   ExpirySweep sweep(db, handle, ttl);
//   absl::StatusOr<SweepReport> report = sweep.Run(options, clock.NowMs());
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/compaction/sweep_options.h"
#include "mayfly/compaction/sweep_plan.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/db.h"

namespace mayfly {

// Threads: Run() one at a time, totals() and Stop() any; the database is in use
// by others meanwhile.
class ExpirySweep {
 public:
  // Lifetime: the database and the handle outlive this. The column family is
  // one that `ttl` configured.
  ExpirySweep(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
              std::shared_ptr<ColumnFamilyTtl> ttl);

  // Looks at the files, and drops or compacts those that are worth it. What
  // lies in memory is written to a file first when it has lain there for half
  // of the staleness allowed. Runs compactions on the thread that calls it.
  // Does nothing while the purge clock cannot tell the time.
  // Errors: kInvalidArgument for options out of range; kResourceExhausted,
  // kDataLoss and kUnavailable as RocksDB has it.
  absl::StatusOr<SweepReport> Run(const SweepOptions& options,
                                  TimestampMs now_ms);

  // Has a run that is under way, and all later ones, end before their next
  // step, without an error.
  void Stop() { stopped_ = true; }

  // What all runs together have done, those too that an error ended.
  SweepReport totals() const;

  // The files as of now.
  // Errors: as ListFileExpiry().
  absl::StatusOr<std::vector<FileExpiry>> Files() const {
    return ListFileExpiry(*db_, column_family_);
  }

 private:
  absl::Status RunSteps(const SweepOptions& options, TimestampMs now_ms,
                        const PurgePoint& purge, SweepReport& report);
  // Those of the plan, up to the first that fails.
  absl::Status RunPlan(const SweepOptions& options, const PurgePoint& purge,
                       SweepReport& report);
  absl::Status FlushIfOld(const SweepOptions& options, TimestampMs now_ms,
                          SweepReport& report);
  // A file that a reader was looking at when it was taken away is let go of by
  // the reader, and RocksDB unlinks it when it next has something else to
  // unlink: on an idle database, never.
  absl::Status UnlinkLeftFiles();
  absl::Status RunStep(const SweepStep& step, const PurgePoint& purge,
                       SweepReport& report);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  const std::shared_ptr<ColumnFamilyTtl> ttl_;
  // Since when something has been seen in memory.
  std::optional<TimestampMs> unflushed_since_ms_;
  std::atomic<bool> stopped_ = false;
  // Whether the last run did; readers may have let go of files since.
  bool took_files_away_ = false;
  mutable std::mutex mutex_;
  SweepReport totals_;  // Guarded by mutex_.
};

}  // namespace mayfly
