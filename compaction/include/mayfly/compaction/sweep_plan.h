// Which files of a column family are worth compacting for what has expired in
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mayfly/compaction/file_expiry.h"
#include "mayfly/compaction/sweep_options.h"
#include "mayfly/compaction/ttl_column_family.h"

namespace mayfly {

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
