#include "state/rocksdb_store.h"

#include "mayfly/compaction/merged_operands.h"
#include "mayfly/serde/state_key.h"
#include "state/rocksdb_status.h"

namespace mayfly::state_internal {
namespace {

class RocksdbScan final : public ByteStore::Scan {
 public:
  // Keys that start with `prefix`, all if it is empty, not before `from`.
  RocksdbScan(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
              std::string_view prefix, std::string_view from, bool fill_cache)
      : upper_bound_(PrefixUpperBound(prefix)) {
    rocksdb::ReadOptions options;
    options.fill_cache = fill_cache;
    if (prefix.empty()) {
      options.total_order_seek = true;
    } else {
      options.prefix_same_as_start = true;
    }
    if (upper_bound_) {
      upper_bound_slice_ = ToSlice(*upper_bound_);
      options.iterate_upper_bound = &upper_bound_slice_;
    }
    iterator_.reset(db->NewIterator(options, column_family));
    iterator_->Seek(ToSlice(from));
  }

  bool Valid() const override { return iterator_->Valid(); }
  void Next() override { iterator_->Next(); }
  std::string_view key() const override { return FromSlice(iterator_->key()); }
  std::string_view value() const override {
    return FromSlice(iterator_->value());
  }
  absl::Status status() const override {
    return FromRocksdb(iterator_->status(), "cannot read the database");
  }

 private:
  const std::optional<std::string> upper_bound_;
  rocksdb::Slice upper_bound_slice_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

class MapKeyPrefixTransform final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "mayfly.MapKeyPrefix.v1"; }

  rocksdb::Slice Transform(const rocksdb::Slice& stored) const override {
    const std::optional<MapKeyView> parts = DecodeMapKey(FromSlice(stored));
    return rocksdb::Slice(stored.data(), stored.size() - parts->map_key.size());
  }

  bool InDomain(const rocksdb::Slice& stored) const override {
    return DecodeMapKey(FromSlice(stored)).has_value();
  }
};

}  // namespace

absl::StatusOr<std::optional<ByteStore::Found>> RocksdbStore::Get(
    std::string_view key) {
  found_.Reset();
  ResetMergedOperands();
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), column_family_, ToSlice(key), &found_);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return FromRocksdb(status, "cannot read the database");
  return Found{FromSlice(found_), MergedOperands()};
}

std::unique_ptr<ByteStore::Scan> RocksdbStore::ScanPrefix(
    std::string_view prefix) {
  return std::make_unique<RocksdbScan>(db_, column_family_, prefix, prefix,
                                       /*fill_cache=*/true);
}

std::unique_ptr<ByteStore::Scan> RocksdbStore::ScanFrom(std::string_view key) {
  return std::make_unique<RocksdbScan>(db_, column_family_, "", key,
                                       /*fill_cache=*/false);
}

std::shared_ptr<const rocksdb::SliceTransform> MapKeyPrefix() {
  static const std::shared_ptr<const rocksdb::SliceTransform> transform =
      std::make_shared<MapKeyPrefixTransform>();
  return transform;
}

}  // namespace mayfly::state_internal
