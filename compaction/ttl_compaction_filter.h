// The filter that RocksDB shows every record of a compaction to.
//
//   layout   record                       decision
//   any      clock cannot tell            keep until it is asked again
//   any      2 GiB or more                 keep, count
//   value    shorter than a timestamp,
//            negative timestamp           keep, count
//   value    expired                      remove
//   value    merge operand                keep, count: values are not merged
//   list     unreadable anywhere          keep, count
//   list     all expired, or empty        remove
//   list     some expired                 rewrite without them
//   any      otherwise                    keep
//
// Three rules of RocksDB are built on. A removed value turns into a tombstone
// wherever an older version may lie below, so that removing never uncovers one;
// a removed list operand does not, and need not, as what lies below belongs to
// the list. Skipping ranges of keys would uncover older versions, and is never
// done. Merge results are not shown to the filter, which is why the merge
// operator drops expired elements by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compaction/list_purge.h"
#include "mayfly/compaction/cleanup_counters.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/slice.h"

namespace mayfly::compaction_internal {

// Goes into RocksDB's option files: never renamed, never reused.
inline constexpr char kTtlFilterName[] = "mayfly.TtlFilter.v1";

// RocksDB stores values of up to 4 GiB, but to rewrite a list of that size
// would take as much memory again in a compaction thread.
// Source: Flink's filter stops at the same size.
inline constexpr std::size_t kFilteredBytesMax = INT32_MAX;

// Threads: one; RocksDB makes a filter for each thread of a compaction.
class TtlCompactionFilter final : public rocksdb::CompactionFilter {
 public:
  // Reads no clock: the first record does.
  explicit TtlCompactionFilter(std::shared_ptr<ColumnFamilyTtl> ttl);

  // Hands over what was counted.
  ~TtlCompactionFilter() override;

  // Never throws.
  Decision FilterV2(int level, const rocksdb::Slice& key, ValueType type,
                    const rocksdb::Slice& stored, std::string* new_value,
                    std::string* skip_until) const override;

  // False would fail the compaction and, with it, every later write.
  bool IgnoreSnapshots() const override { return true; }

  const char* Name() const override { return kTtlFilterName; }

 private:
  // What became of a record.
  enum class Outcome { kKept, kRemoved, kRewritten, kMalformed, kTooLarge };

  // RocksDB's interface is const although a filter belongs to one thread; what
  // changes from record to record is kept together here.
  struct Pass {
    std::optional<PurgePoint> purge;
    // Of the purge point.
    TimestampMs expired_through_ms = 0;
    std::int64_t records_until_query = 0;
    CleanupCounters counters;
  };

  void QueryTimeIfDue() const;
  Outcome Judge(std::string_view stored, ValueType type,
                std::string* new_value) const;
  Outcome JudgeValue(std::string_view stored, ValueType type) const;
  Outcome JudgeList(std::string_view stored, std::string* new_value) const;

  // Counts and logs whatever is not kKept, and tells RocksDB.
  Decision Settle(Outcome outcome, std::string_view key,
                  std::string_view stored, const std::string& new_value) const;
  [[gnu::noinline]] void Log(Outcome outcome,
                             std::string_view key) const noexcept;

  const std::shared_ptr<ColumnFamilyTtl> ttl_;
  const EntryLayout layout_;
  mutable Pass pass_;
};

// Makes filters for compactions. Flushes are not filtered: what expired in the
// memtable would turn into tombstones, which cost about as much.
// Threads: any.
class TtlCompactionFilterFactory final
    : public rocksdb::CompactionFilterFactory {
 public:
  explicit TtlCompactionFilterFactory(std::shared_ptr<ColumnFamilyTtl> ttl);

  bool ShouldFilterTableFileCreation(
      rocksdb::TableFileCreationReason reason) const override;

  // No filter if the layout is kDisabled.
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;

  const char* Name() const override { return kTtlFilterName; }

  const ColumnFamilyTtl& ttl() const { return *ttl_; }

 private:
  const std::shared_ptr<ColumnFamilyTtl> ttl_;
};

}  // namespace mayfly::compaction_internal
