// The filter of a compaction that drops a whole file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compaction/ttl_compaction_filter.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/compaction_filter.h"

namespace mayfly::compaction_internal {

// A file of which everything has expired, and below which nothing older lies.
struct DropTarget {
  const ColumnFamilyTtl* ttl = nullptr;
  std::string_view smallest_key;
  std::string_view largest_key;
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

// Skips from the first expired record of the target to its end. Skipping leaves
// no tombstones, which is right only because of what a DropTarget is. RocksDB
// may add neighbours of the file that share a boundary key; what lies outside
// of the target, and what has not expired, is for the ordinary filter.
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
  bool IsExpired(std::string_view stored, ValueType type) const;

  const EntryLayout layout_;
  const DropTarget target_;
  const TtlCompactionFilter ordinary_;
};

}  // namespace mayfly::compaction_internal
