// Makes the expired bytes of a shard leave the disk, whether or not the shard
// is at work.
//
//   std::shared_ptr<DiskSweeper> sweeper = backend->disk_sweeper();
//   // On any other thread, now and then; or give it to a SweepScheduler:
//   absl::StatusOr<SweepReport> report = sweeper->Sweep({}, clock.NowMs());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mayfly/compaction/sweep_options.h"
#include "mayfly/serde/timestamp.h"

namespace mayfly {

// What a state has on disk. What waits for the next commit is not in it.
// Unit: bytes of table files, compressed; estimates where said.
struct StateDiskUse {
  std::string state;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // Of those, what has expired and not been compacted away: an estimate.
  std::uint64_t expired_bytes = 0;
  // What will have expired at each of the times asked for, if nothing is
  // written meanwhile: estimates.
  std::vector<std::uint64_t> expired_bytes_by;
  // Values, map entries and list elements, expired or not, of all versions that
  // RocksDB has: an upper bound.
  std::uint64_t entries = 0;
  // Last access of the oldest; kNeverExpires if there is none.
  TimestampMs oldest_ms = kNeverExpires;
  // Of all files of which the times are not known: those written by an earlier
  // version.
  std::uint64_t bytes_of_unknown_age = 0;
  // What sweeps have done since the shard was opened.
  SweepReport swept;
};

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

  // What each state has on disk, and when it expires. Reads no table file.
  // Errors: kUnavailable if RocksDB cannot say.
  virtual absl::StatusOr<std::vector<StateDiskUse>> DiskUse(
      const std::vector<TimestampMs>& expired_by_ms) = 0;
};

}  // namespace mayfly
