// Which files of a column family are worth compacting for what has expired in
// them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mayfly/compaction/file_expiry.h"
#include "mayfly/compaction/ttl_column_family.h"

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

enum class SweepAction : std::uint8_t {
  // All of the file has expired and nothing older lies below: it goes without
  // being read.
  kDrop,
  // Rewritten without what has expired.
  kCompact,
};

struct SweepStep {
  SweepAction action = SweepAction::kCompact;
  // The file, as FileExpiry calls it; RocksDB adds those that it must.
  std::string file;
  std::string smallest_key;
  std::string largest_key;
  int output_level = 0;
  // Of the file, and of those that are likely compacted with it.
  std::uint64_t bytes = 0;
  // Estimated.
  std::uint64_t expired_bytes = 0;
};

// The steps of one sweep, the cheapest first: files to drop, then those of
// which most has expired. Files that are being compacted are left out, and so
// are files whose times are not known.
// Source: the rule for dropping is that of LSM trees: a version that goes
// without a tombstone must not have an older one of its key beneath it.
std::vector<SweepStep> PlanSweep(const std::vector<FileExpiry>& files,
                                 const PurgePoint& purge,
                                 const SweepOptions& options);

}  // namespace mayfly
