// The filter of a compaction that drops whole files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compaction/ttl_compaction_filter.h"
#include "mayfly/compaction/sweep_plan.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/compaction_filter.h"

namespace mayfly::compaction_internal {

// Files of one level of which everything has expired, and below which nothing
// older lies; in the order of their keys.
struct DropTarget {
  const ColumnFamilyTtl* ttl = nullptr;
  std::span<const SweepFile> files;
  PurgePoint purge;
};

// While it lives, compactions that this thread runs on the target's column
// family skip the target: CompactFiles() makes its filter on the thread that
// calls it, if subcompactions are off.
// Threads: one.  Lifetime: the target outlives this.
class DropScope {
 public:
  explicit DropScope(const DropTarget& target);
  DropScope(const DropScope&) = delete;
  DropScope& operator=(const DropScope&) = delete;
  ~DropScope();

  // The target of this thread; null if there is none.
  static const DropTarget* Current();
};

// Skips from the first expired record of each file of the target to the end of
// that file. Skipping leaves no tombstones, which is right only because of what
// a DropTarget is. RocksDB may add neighbours that share a boundary key, and
// what another compaction has since put between two of the files; what lies
// outside of the target, and what has not expired, is for the ordinary filter.
// Threads: one.
class DropFilter final : public rocksdb::CompactionFilter {
 public:
  DropFilter(std::shared_ptr<ColumnFamilyTtl> ttl, const DropTarget& target);

  Decision FilterV2(int level, const rocksdb::Slice& key, ValueType type,
                    const rocksdb::Slice& stored, std::string* new_value,
                    std::string* skip_until) const override;
  bool IgnoreSnapshots() const override { return true; }
  const char* Name() const override { return kTtlFilterName; }

 private:
  // The file of the target whose range the key lies in; null if there is none.
  const SweepFile* FileOf(std::string_view key) const;
  bool IsExpired(std::string_view stored, ValueType type) const;

  const EntryLayout layout_;
  const DropTarget target_;
  const TtlCompactionFilter ordinary_;
};

}  // namespace mayfly::compaction_internal
