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
  // All of the files has expired and nothing older lies below: they go without
  // being read.
  kDrop,
  // Rewritten without what has expired.
  kCompact,
};

// As FileExpiry has it.
struct SweepFile {
  std::string name;
  std::string smallest_key;
  std::string largest_key;
};

struct SweepStep {
  SweepAction action = SweepAction::kCompact;
  // To compact: one, to which RocksDB adds those that it must. To drop: one or
  // more of a level, in the order of their keys, with no other between them.
  std::vector<SweepFile> files;
  int output_level = 0;
  // Of the files, and of those that are likely compacted with them.
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
