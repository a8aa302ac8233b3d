// Fills a column family with table files that are written apart, which costs a
// fraction of putting the entries one by one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_writer.h"

namespace mayfly::state_internal {

// Holds one block of entries in memory, and the index of one file.
// Threads: one.  Lifetime: must not outlive the column family.
class SortedFiles {
 public:
  // Writes into `directory`, which is there, for an empty column family.
  SortedFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
              std::string directory);

  // Adds an entry. Its key comes after those that were added since the last
  // EndRun(), and was not added before.
  // Errors: as FromRocksdb().
  absl::Status Add(std::string_view key, std::string_view value);

  // The next key may come before those so far.
  // Errors: as FromRocksdb().
  absl::Status EndRun();

  // Gives all of it to the column family.
  // Errors: as FromRocksdb().
  absl::Status Ingest();

 private:
  absl::Status Check(const rocksdb::Status& status) const;

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  const rocksdb::Options options_;
  const std::string directory_;
  std::optional<rocksdb::SstFileWriter> writer_;
  std::vector<std::string> paths_;
};

}  // namespace mayfly::state_internal
