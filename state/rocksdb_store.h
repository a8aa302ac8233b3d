// One column family as the store beneath a state's table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mayfly/state/internal/byte_store.h"
#include "rocksdb/db.h"
#include "rocksdb/slice.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/write_batch.h"

namespace mayfly::state_internal {

inline rocksdb::Slice ToSlice(std::string_view bytes) {
  return rocksdb::Slice(bytes.data(), bytes.size());
}

inline std::string_view FromSlice(const rocksdb::Slice& slice) {
  return std::string_view(slice.data(), slice.size());
}

// For who reads all of a column family once, and not again soon.
inline rocksdb::ReadOptions FullScan() {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  options.readahead_size = std::size_t{2} << 20;
  return options;
}

// Threads: one.  Lifetime: must not outlive the database.
class RocksdbStore final : public ByteStore {
 public:
  RocksdbStore(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family)
      : db_(db), column_family_(column_family) {}

  absl::StatusOr<std::optional<Found>> Get(std::string_view key) override;
  std::unique_ptr<Scan> ScanPrefix(std::string_view prefix) override;
  std::unique_ptr<Scan> ScanFrom(std::string_view key) override;

  rocksdb::ColumnFamilyHandle* column_family() const { return column_family_; }

 private:
  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  rocksdb::PinnableSlice found_;
};

// Collects the changes of one state in a batch.
class BatchWriter final : public ChangeWriter {
 public:
  BatchWriter(rocksdb::WriteBatch* batch,
              rocksdb::ColumnFamilyHandle* column_family)
      : batch_(batch), column_family_(column_family) {}

  void Put(std::string_view key, std::string_view value) override {
    Note(batch_->Put(column_family_, ToSlice(key), ToSlice(value)));
  }
  void Merge(std::string_view key, std::string_view elements) override {
    Note(batch_->Merge(column_family_, ToSlice(key), ToSlice(elements)));
  }
  void Delete(std::string_view key) override {
    Note(batch_->Delete(column_family_, ToSlice(key)));
  }

  // The first error of any call: a key or value beyond RocksDB's limit.
  const rocksdb::Status& status() const { return status_; }

 private:
  void Note(const rocksdb::Status& status) {
    if (status_.ok()) status_ = status;
  }

  rocksdb::WriteBatch* const batch_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  rocksdb::Status status_;
};

// The prefix of map keys that all entries of one key share.
// Source: serde/FORMAT.md, keys of map entries.
std::shared_ptr<const rocksdb::SliceTransform> MapKeyPrefix();

}  // namespace mayfly::state_internal
