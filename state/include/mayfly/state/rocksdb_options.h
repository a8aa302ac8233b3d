// How RocksDB keeps states on disk: for those who tune it. The defaults suit
// most states; docs/tuning.md says which symptom asks for which option.
//
//   BackendOptions options;
//   // Of all states, and of a single one, in what it names.
//   options.rocksdb.all_states.compression = Compression::kZstd;
//   options.rocksdb.states["windows"].deletion_trigger = {{.window = 1024,
//                                                         .deletions = 512}};
//   // And while it runs:
//   status = backend->SetRocksdbOptions(changed);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace mayfly {

enum class Compression : std::uint8_t {
  kNone = 1,
  kLz4 = 2,   // Fast.
  kZstd = 3,  // Smaller files for several times the processor time.
};

// FIFO is left out: it deletes the oldest file whatever is in it, also what a
// key was last given long ago and has not expired.
enum class CompactionStyle : std::uint8_t {
  // Levels of small files: little space, single files can be dropped.
  kLevel = 1,
  // Whole runs merged with each other: fewer bytes are written for a key that
  // changes often, and up to twice the space is used.
  kUniversal = 2,
};

// Has a new file compacted when deletions lie close together in it: walks have
// to step over each of them. Reads and incremental clean-up delete what they
// find expired.
struct DeletionTrigger {
  // Neighbouring records of a file, rounded up to a multiple of 128; 0 turns
  // the trigger off.  Range: 0 to 1,000,000.
  std::size_t window = 0;
  // So many of them deletions.  Range: 1 to `window`; 0 without one.
  std::size_t deletions = 0;

  friend bool operator==(const DeletionTrigger&,
                         const DeletionTrigger&) = default;
};

// Of one state. A field that is not set leaves the choice to the next place:
// from a single state to all states, from there to the default.
struct RocksdbStateOptions {
  // Default: kLz4, or kNone where RocksDB was built without it.  For files
  // written from now on.  Changeable while running.
  std::optional<Compression> compression;

  // Of the filters that spare reads of keys that are not in a file, and of the
  // prefixes of maps.  Default: 10, one false alarm in a hundred.
  // Range: 0 for none, or 1 to 40.  Fixed while open.
  std::optional<double> bloom_bits_per_key;

  // Changes are collected in memory up to this, then written to a file. All
  // write buffers together keep to StorageResources::Options::memory_bytes.
  // Default: 16 MiB.  Range: 64 KiB to 4 GiB.  Changeable while running: from
  // the next buffer on.
  std::optional<std::size_t> write_buffer_bytes;

  // Of a table file: what can be dropped at once when all of it has expired.
  // Default: 32 MiB.  Range: 64 KiB to 4 GiB.  Changeable while running.
  std::optional<std::size_t> file_bytes;

  // Default: kLevel.  Fixed while open.
  std::optional<CompactionStyle> compaction_style;

  // Default: off.  For files written from now on.  Changeable while running.
  std::optional<DeletionTrigger> deletion_trigger;

  // Files older than this are rewritten, while there are flushes and
  // compactions; 0 turns that off.  Default: as
  // CleanupInRocksdbCompactFilter() of the state's TTL has it; without a TTL,
  // 0.  Range: 0 to 4294967295 s.  Changeable while running.
  std::optional<std::chrono::seconds> periodic_compaction;

  friend bool operator==(const RocksdbStateOptions&,
                         const RocksdbStateOptions&) = default;
};

// Of a backend and its states.
struct RocksdbOptions {
  RocksdbStateOptions all_states;
  // By name; the state may be registered later, or never.
  std::map<std::string, RocksdbStateOptions> states;

  // Compactions and flushes of this backend at once, on threads that all
  // backends of the process share.  Range: 1 to 64.  Changeable while running.
  int background_jobs = 2;

  // Files that are kept open; nullopt: all. Each costs a file descriptor and,
  // when it is opened anew, a few reads.  Range: 20 to 1,000,000.
  // Changeable while running.
  std::optional<int> open_files_max;

  // A compacted file is deleted at once, unless a walk still reads it or the
  // disk refuses. The directory is searched for such leftovers so often, while
  // there are flushes and compactions.  Range: 1 s to 365 days.
  // Changeable while running.
  std::chrono::seconds obsolete_files_period = std::chrono::minutes(10);

  friend bool operator==(const RocksdbOptions&,
                         const RocksdbOptions&) = default;
};

// Errors: kInvalidArgument naming the first field out of range, the value given
// and what would do; kFailedPrecondition for a compression that RocksDB was
// built without.
absl::Status Validate(const RocksdbOptions& options);

}  // namespace mayfly
