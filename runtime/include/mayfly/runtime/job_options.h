// The settings of a job: plain data. What a job is made of is given to Job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "mayfly/serde/clock.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/sweep_scheduler.h"

namespace mayfly {

// Copies of a job's state that outlive its state directory. All shards are
// caught at the same line of the input, while they work; each is held up for a
// commit and for the links to its files.
struct CheckpointOptions {
  // Where `checkpoint-00001` and so on are kept; made if it is not there, and
  // of one job, from its first start on: one that starts anew is refused where
  // checkpoints of an earlier one are. On the file system of the state
  // directory a checkpoint takes links; on another one it copies what the one
  // before does not have.
  std::string directory = {};

  // Time from one to the next; nullopt: only when Job::RequestCheckpoint()
  // asks for one.  Range: 1 ms or more.
  std::optional<std::chrono::milliseconds> interval = std::chrono::minutes(10);

  // Of so many the newest are kept.  Range: 1 or more.
  int keep = 3;

  // One more when the job stops without an error, asked to or at the end of its
  // input, unless nothing was done since the newest.
  bool on_stop = true;
};

struct JobOptions {
  // Messages and the state directory bear it.
  // Range: letters, digits, '_', '-' and '.', 1 to 100 of them.
  std::string name = {};

  // The directory that holds all the job must not forget; made if it is not
  // there. A job that finds none in it starts anew, and refuses an output with
  // lines in it. Empty, on heap only: the job keeps nothing, always starts anew
  // and replaces its output.
  std::string state_directory = {};

  // Each shard has a thread, a backend and an output of its own. Stays as it
  // is for the life of a state directory.  Range: 1 to 1000.
  int shards = 1;

  BackendKind backend = BackendKind::kRocksdb;
  Durability durability = Durability::kProcess;

  // As BackendOptions::table_bytes_max.  Unit: bytes a shard.
  std::size_t table_bytes_max = std::size_t{64} << 20;

  // RocksDB: how the shards keep their states on disk.
  RocksdbOptions rocksdb = {};

  // Memory and disk traffic that the shards' databases share, with those of
  // other jobs if they are given the same; null makes one for this job.
  std::shared_ptr<StorageResources> storage = nullptr;

  // A shard commits when this much time has passed or so many records, or when
  // its backend asks for it, whichever comes first; at the end; and on RocksDB
  // every ten seconds while nothing comes. On heap a commit goes on while
  // records are processed, and the next one begins when it is complete: with
  // millions of entries they come less often than this asks for.
  // Range: 1 ms to a day; 1 record or more.
  std::chrono::milliseconds commit_interval{1000};
  std::int64_t commit_records_max = 100'000;

  // The job fails at one malformed line more than this, counted from the start
  // of the input; 0 stands for no malformed line at all. nullopt: it goes on
  // whatever their number.
  std::optional<std::uint64_t> malformed_lines_max = std::nullopt;

  // RocksDB: how expired bytes are made to leave the disk, also while nothing
  // comes. nullopt: only as RocksDB compacts by itself.
  std::optional<SweepSchedule> disk_sweeps = SweepSchedule();

  // Entries of a state that each count of live and expired ones looks at.
  std::uint64_t statistics_visits_max = 10'000;

  // nullopt: none are taken.
  std::optional<CheckpointOptions> checkpoints = std::nullopt;

  // Where `savepoint-00001` and so on are written: state in a form that either
  // backend and any number of shards can be restored from. Another directory
  // than that of the checkpoints; empty: none can be written.
  std::string savepoint_directory = {};

  // A savepoint when the job stops without an error, asked to or at the end of
  // its input. If it cannot be written, Job::Run() says so.
  bool savepoint_on_stop = false;

  // What a state directory that holds no job yet begins with: a checkpoint, a
  // savepoint, or a directory of them, of which the newest good one is taken.
  // Passed by if the state directory holds the job already, so that a restart
  // with the same options goes on where it was. It may be the job's own
  // directory of checkpoints in all of its starts: while there is none yet, the
  // job starts anew.
  //
  // Another backend and another number of shards than before will do. The
  // output is cut back to what it was then, and goes on there; one that is not
  // there, at Sink::name(), begins empty. From one shard to several or back it
  // always begins empty, and must be another path.
  std::string restore_from = {};

  // Processing time of the states, and what commits and progress go by; null
  // is SystemClock().
  std::shared_ptr<const TtlClock> processing_clock = nullptr;
};

// Errors: kInvalidArgument naming the first field out of range, the value
// given and what would do.
absl::Status Validate(const JobOptions& options);

}  // namespace mayfly
