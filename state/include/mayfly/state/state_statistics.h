// How much a state holds, how much of it has expired, and what has been
// removed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mayfly/compaction/sweep_options.h"
#include "mayfly/serde/timestamp.h"

namespace mayfly {

// What a state has on disk, as its files say of themselves: RocksDB only. What
// waits for the next commit, or to be written to a file, is not in it.
// Unit: bytes of table files, compressed.
// Threads: a plain value.
struct StateDiskUse {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // Values, map entries and list elements, expired or not, of all versions that
  // RocksDB has: an upper bound. Of states with a TTL only.
  std::uint64_t entries = 0;
  // Of those, what has expired and not been compacted away: estimates.
  std::uint64_t expired_bytes = 0;
  std::uint64_t expired_entries = 0;
  // What will have expired at each of the times asked for, if nothing is
  // written meanwhile: estimates.
  std::vector<std::uint64_t> expired_bytes_by = {};
  // Last access of the oldest; kNeverExpires if there is none.
  TimestampMs oldest_ms = kNeverExpires;
  // What compactions and sweeps go by: the time of the last commit. Its age is
  // how far they lag behind; kNeverExpires without a TTL.
  TimestampMs purge_clock_ms = kNeverExpires;
  // Of files of which the times are not known, since they cannot be read or
  // were written by something else.
  std::uint64_t bytes_of_unknown_age = 0;
  // Why RocksDB cannot say what is in the files, naming the state; empty if it
  // can. Only `files` and `bytes` are known then, and no age.
  std::string unreadable = {};

  friend bool operator==(const StateDiskUse&, const StateDiskUse&) = default;
};

// What one way of clean-up has removed.
// Threads: a plain value.
struct Removed {
  std::uint64_t entries = 0;
  // Before compression; of what was removed from memory, as it lay there: an
  // estimate.  Unit: bytes.
  std::uint64_t bytes = 0;

  Removed& operator+=(const Removed& other);
  friend bool operator==(const Removed&, const Removed&) = default;
};

// What has been removed for having expired, since the backend was opened. An
// entry that several versions are stored of may be counted by several ways.
// Threads: a plain value.
struct StateCleanup {
  // The reads, and the calls of accumulators, that met it.
  Removed reads = {};
  // Incremental clean-up, in the background and by CleanUp(). On RocksDB, of a
  // list whose expired elements merging has left out already, one entry.
  Removed incremental = {};
  // RocksDB's compactions, those of sweeps and of Compact() among them, by the
  // compaction filter.
  Removed compactions = {};
  // Elements that were left out when lists were put together from pieces. A
  // read does that too, each time it meets the same elements: a measure of
  // work, not of space.
  std::uint64_t merge_elements = 0;
  // What sweeps of the disk have dropped whole, and compacted.
  SweepReport sweeps = {};
  // Records that compactions kept, each time, because they could not be read
  // or handled: above 0, somebody should look at the log and the disk.
  std::uint64_t records_unreadable = 0;

  friend bool operator==(const StateCleanup&, const StateCleanup&) = default;
};

// Entries: values, accumulators, list elements or map entries.
// Threads: a plain value.
struct StateStatistics {
  std::string state = {};

  // Counted by KeyedStateBackend::Statistics(), on RocksDB as of a commit; 0
  // until then, and for a state that is stored and not registered.
  std::uint64_t live_entries = 0;
  // Expired and not yet removed. Of lists that RocksDB puts together from
  // pieces only what had not expired at the last commit is counted: the read
  // that counts leaves the rest out.
  std::uint64_t expired_entries = 0;
  // Of stored keys and values, before compression, and what of it has expired;
  // the key of a list goes with its newest element.  Unit: bytes.
  std::uint64_t bytes = 0;
  std::uint64_t expired_bytes = 0;
  // False if only a part was looked at and the figures are extrapolated, and
  // until they have been counted.
  bool exact = false;

  StateDiskUse disk = {};
  StateCleanup cleanup = {};

  // The same state in another shard.
  StateStatistics& operator+=(const StateStatistics& other);
  friend bool operator==(const StateStatistics&,
                         const StateStatistics&) = default;
};

}  // namespace mayfly
