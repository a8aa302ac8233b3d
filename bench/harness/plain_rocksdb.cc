#include "bench/harness/plain_rocksdb.h"

#include <cstddef>
#include <deque>

#include "bench/harness/must.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/db_ttl.h"
#include "state/rocksdb_options.h"

namespace mayfly::bench {
namespace {

class ConcatenationOperator final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "bench.Concatenation"; }

  bool FullMergeV2(const MergeOperationInput& input,
                   MergeOperationOutput* output) const override {
    std::string& list = output->new_value;
    list.clear();
    std::size_t bytes = 0;
    for (const rocksdb::Slice& operand : input.operand_list) {
      bytes += operand.size();
    }
    if (input.existing_value != nullptr) {
      list.reserve(input.existing_value->size() + bytes);
      list.append(input.existing_value->data(), input.existing_value->size());
    } else {
      list.reserve(bytes);
    }
    for (const rocksdb::Slice& operand : input.operand_list) {
      list.append(operand.data(), operand.size());
    }
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice& /*key*/,
                         const std::deque<rocksdb::Slice>& operands,
                         std::string* merged,
                         rocksdb::Logger* /*logger*/) const override {
    merged->clear();
    for (const rocksdb::Slice& operand : operands) {
      merged->append(operand.data(), operand.size());
    }
    return true;
  }
};

}  // namespace

PlainRocksdb::PlainRocksdb(const PlainRocksdbOptions& options) {
  write_options_.disableWAL = !options.write_ahead_log;
  const state_internal::RocksdbResources resources(StorageResources::Options{});
  rocksdb::ColumnFamilyOptions family =
      state_internal::StateFamilyOptions(resources, options.is_map);
  if (options.configure) options.configure(&family);
  const rocksdb::Options all(state_internal::DatabaseOptions(resources),
                             family);
  const std::string path =
      options.path.empty() ? directory_.path() : options.path;
  if (options.ttl_seconds.has_value()) {
    rocksdb::DBWithTTL* db = nullptr;
    Must(rocksdb::DBWithTTL::Open(all, path, &db, *options.ttl_seconds));
    db_.reset(db);
  } else {
    rocksdb::DB* db = nullptr;
    Must(rocksdb::DB::Open(all, path, &db));
    db_.reset(db);
  }
}

void PlainRocksdb::Compact() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  Must(db_->CompactRange(options, nullptr, nullptr));
}

std::shared_ptr<rocksdb::MergeOperator> Concatenation() {
  return std::make_shared<ConcatenationOperator>();
}

}  // namespace mayfly::bench
