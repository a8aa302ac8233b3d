// RocksDB's errors as ours.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace mayfly::state_internal {

// `what` says which operation on what failed.
// Errors: kDataLoss for corruption; kResourceExhausted for a full disk or
// memory limit; kAborted if another writer was faster; kDeadlineExceeded;
// kCancelled at shutdown; kInvalidArgument; kFailedPrecondition for what is
// not supported; kUnavailable for the rest, which may be retried.
absl::Status FromRocksdb(const rocksdb::Status& status, std::string_view what);

}  // namespace mayfly::state_internal
