// Rewrites one column family into another.
#pragma once

#include "absl/status/status.h"
#include "rocksdb/db.h"
#include "state/entry_migration.h"
#include "state/sorted_files.h"

namespace mayfly::state_internal {

// Adds what `migration` makes of the entries of `from` to `to`, in the order of
// the keys.
// Errors: as EntryMigration::Apply(); kDataLoss, kResourceExhausted and
// kUnavailable as the disk has it.
absl::Status RewriteEntries(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* from,
                            EntryMigration& migration, SortedFiles& to);

}  // namespace mayfly::state_internal
