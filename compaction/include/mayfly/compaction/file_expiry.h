// What the table files of a column family hold, and when it expires.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mayfly/compaction/file_times.h"
#include "rocksdb/db.h"

namespace mayfly {

struct FileExpiry {
  // As RocksDB calls it: "/000012.sst".
  std::string name;
  int level = 0;
  // As it lies on disk, compressed.
  std::uint64_t bytes = 0;
  std::string smallest_key;
  std::string largest_key;
  // Tombstones, which carry no time.
  std::uint64_t deletions = 0;
  bool being_compacted = false;
  // nullopt if the file was written without, or they cannot be read: what is in
  // it is then taken to live for ever.
  std::optional<FileTimes> times;

  bool Overlaps(const FileExpiry& other) const {
    return smallest_key <= other.largest_key &&
           other.smallest_key <= largest_key;
  }
};

// Of all table files, level by level. Of a file that RocksDB has open nothing
// is read, since its properties are in memory; of another one the end. Errors:
// kUnavailable or kDataLoss if RocksDB cannot say.
absl::StatusOr<std::vector<FileExpiry>> ListFileExpiry(
    rocksdb::DB& db, rocksdb::ColumnFamilyHandle* column_family);

}  // namespace mayfly
