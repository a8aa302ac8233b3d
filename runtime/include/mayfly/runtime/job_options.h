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

struct JobOptions {
  // Messages and the state directory bear it.
  // Range: letters, digits, '_', '-' and '.', 1 to 100 of them.
  std::string name = {};

  // The directory that holds all the job must not forget; made if it is not
  // there. Empty, on heap only: the job keeps nothing and always starts anew.
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

  // Processing time of the states, and what commits and progress go by; null
  // is SystemClock().
  std::shared_ptr<const TtlClock> processing_clock = nullptr;
};

// Errors: kInvalidArgument naming the first field out of range, the value
// given and what would do.
absl::Status Validate(const JobOptions& options);

}  // namespace mayfly
