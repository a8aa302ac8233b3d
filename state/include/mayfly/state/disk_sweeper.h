// Makes the expired bytes of a shard leave the disk, whether or not the shard
// is at work.
//
//   std::shared_ptr<DiskSweeper> sweeper = backend->disk_sweeper();
//   // On any other thread, now and then; or give it to a SweepScheduler:
//   absl::StatusOr<SweepReport> report = sweeper->Sweep({}, clock.NowMs());
#pragma once

#include "absl/status/statusor.h"
#include "mayfly/compaction/sweep_options.h"
#include "mayfly/serde/timestamp.h"

namespace mayfly {

// Threads: any, at once with the shard; sweeps of one shard wait for each
// other.
// Lifetime: may outlive its backend; there is nothing to sweep any more then.
class DiskSweeper {
 public:
  virtual ~DiskSweeper() = default;

  // Sweeps the states that have a TTL and clean-up by compaction, one after
  // another, on the thread that calls it. What counts as expired is what had
  // expired at the last commit: an idle shard has to commit now and then.
  // Errors: kInvalidArgument for options out of range; kResourceExhausted for
  // a full disk; kDataLoss and kUnavailable as RocksDB has it. An error loses
  // nothing that is committed; but a damaged file that a sweep meets has
  // RocksDB refuse all writes from then on, so that commits fail too.
  virtual absl::StatusOr<SweepReport> Sweep(const SweepOptions& options,
                                            TimestampMs now_ms) = 0;
};

}  // namespace mayfly
