// The options of a database that is open: reading them back, and changing them.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "mayfly/state/rocksdb_options.h"
#include "rocksdb/db.h"
#include "state/rocksdb_family.h"

namespace mayfly::state_internal {

// As the column family has them now, with every field set.
RocksdbStateOptions ReadStateOptions(rocksdb::DB& db,
                                     rocksdb::ColumnFamilyHandle* family);

// As the database has them now; its states are not looked at.
RocksdbOptions ReadDatabaseOptions(rocksdb::DB& db);

// Whether an open column family can become as `wanted`.
// Range: options in which every field but periodic_compaction is set, here and
// below.
// Errors: kFailedPrecondition naming the state and what is fixed while it is
// open.
absl::Status CheckChangeable(const std::string& state,
                             const RocksdbStateOptions& live,
                             const RocksdbStateOptions& wanted);

// Makes an open column family as `wanted` in all that CheckChangeable() allows.
// Errors: kUnavailable if RocksDB cannot record it.
absl::Status ChangeStateOptions(rocksdb::DB& db, const RocksdbFamily& family,
                                const std::string& state,
                                const RocksdbStateOptions& wanted);

// The same for the database itself.
// Errors: kUnavailable if RocksDB cannot record it.
absl::Status ChangeDatabaseOptions(rocksdb::DB& db,
                                   const RocksdbOptions& wanted);

}  // namespace mayfly::state_internal
