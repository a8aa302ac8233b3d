// Copies of a live database, and the checksums of its files.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/internal/file_copy.h"
#include "rocksdb/db.h"
#include "rocksdb/file_checksum.h"

namespace mayfly::state_internal {

// Has RocksDB record the CRC-32C of each table file that it writes, so that a
// checkpoint need not read it to know it.
// Source: the name and the form of RocksDB's own, which computes it slowly
// where it was compiled for any processor.
std::shared_ptr<rocksdb::FileChecksumGenFactory> Crc32cOfTableFiles();

// Makes `directory`, which must not exist, the database as it is now: table
// files by link if the file system is the same, the rest by copy. Nothing is
// flushed, so that it takes no longer than what lies in the log takes to copy.
// Errors: as FromRocksdb().
absl::Status CopyDatabase(rocksdb::DB& db, const std::string& directory);

// The checksums on record, by the name of the table file.
// Errors: as FromRocksdb().
absl::StatusOr<std::map<std::string, std::uint32_t>> RecordedChecksums(
    rocksdb::DB& db);

}  // namespace mayfly::state_internal
