// Rewrites a column family into table files, for another one to take in.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "state/entry_migration.h"

namespace mayfly::state_internal {

// Writes what `migration` makes of the entries of `from` into table files in
// `directory`, which is there: for a column family with `options`, in the order
// of the keys, each about as large as that has its files. Holds one block of
// them in memory, and the index of one file. Returns their paths.
// Errors: as EntryMigration::Apply(); kDataLoss, kResourceExhausted and
// kUnavailable as the disk has it.
absl::StatusOr<std::vector<std::string>> RewriteIntoFiles(
    rocksdb::DB& db, rocksdb::ColumnFamilyHandle* from,
    const rocksdb::ColumnFamilyOptions& options, const std::string& directory,
    EntryMigration& migration);

}  // namespace mayfly::state_internal
