// What a sweep of expired bytes may do, and what it has done.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"

namespace mayfly {

struct SweepOptions {
  // A file is compacted when at least this part of its bytes, and of the bytes
  // of the files below that are compacted with it, has expired.
  // Range: above 0, to 1.
  double expired_share = 0.5;

  // And whatever its share, when something in it has been expired for so long:
  // the bound within which expired bytes leave the disk, give or take the time
  // between two sweeps.  Range: 1 s or more.
  std::chrono::milliseconds staleness_max = std::chrono::hours(24);

  // What a sweep starts to compact, at most; what is left is for the next one.
  // Files that are dropped whole count nothing.
  // Unit: bytes of files.  Range: 1 or more.
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
};

// Errors: kInvalidArgument naming the first field out of range, the value
// given and what would do.
absl::Status Validate(const SweepOptions& options);

// What sweeps have done.
// Unit: bytes of files, as they lie on disk.
struct SweepReport {
  std::uint64_t files_dropped = 0;
  std::uint64_t bytes_dropped = 0;
  std::uint64_t compactions = 0;
  // Read by those compactions and written by them; the difference is free.
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t flushes = 0;
  // Steps that were put off: another compaction had the file, or the sweep had
  // done enough.
  std::uint64_t steps_left = 0;

  SweepReport& operator+=(const SweepReport& other);
  friend bool operator==(const SweepReport&, const SweepReport&) = default;
};

}  // namespace mayfly
