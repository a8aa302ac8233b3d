// Appending to a stored list. An operand is itself a list, mostly of one
// element, and merging is concatenation.
//
// Under a TTL, merging also leaves expired elements out. The filter cannot do
// without that: RocksDB shows it neither the base of a list that has new
// operands nor the merged result, so a list that is always appended to would
// keep all it ever held.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/merge_operator.h"

namespace mayfly::compaction_internal {

// These go into every table file: never renamed, never reused.
inline constexpr char kListAppendName[] = "mayfly.ListAppend.v1";
inline constexpr char kTtlListAppendName[] = "mayfly.TtlListAppend.v1";

// Concatenates, whatever the bytes.
// Threads: any.
class ListAppendOperator final : public rocksdb::MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& input,
                   MergeOperationOutput* output) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key,
                         const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value,
                         rocksdb::Logger* logger) const override;
  const char* Name() const override { return kListAppendName; }
};

// Concatenates what is live on the purge clock, read once for each merge. What
// is left of a list may be empty: a merge cannot remove a key, the filter does.
//
// Operands that cannot be read stay apart as long as RocksDB lets them, and are
// then carried over byte for byte. The result can be read as little as they
// could, however much is appended later (see kDamageMark in the source).
//
// Never throws, and fails only if memory runs out.
// Threads: any; reads merge as well as compactions.
class TtlListAppendOperator final : public rocksdb::MergeOperator {
 public:
  explicit TtlListAppendOperator(std::shared_ptr<ColumnFamilyTtl> ttl);

  bool FullMergeV2(const MergeOperationInput& input,
                   MergeOperationOutput* output) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key,
                         const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value,
                         rocksdb::Logger* logger) const override;
  const char* Name() const override { return kTtlListAppendName; }

  const ColumnFamilyTtl& ttl() const { return *ttl_; }

 private:
  const std::shared_ptr<ColumnFamilyTtl> ttl_;
};

}  // namespace mayfly::compaction_internal
