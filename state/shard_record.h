// The file MANIFEST.mayfly in a shard's directory: who wrote the directory, and
// which states it holds.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {

// Version 1: the first.
inline constexpr std::uint32_t kFormatVersion = 1;

std::string ShardRecordPath(const std::string& directory);

// Reads the record; false, and a fresh record, if there is none.
// Errors: kDataLoss if it does not decode; kFailedPrecondition if it was
// written by a newer version or for another backend; as ReadFile().
absl::StatusOr<bool> ReadShardRecord(const std::string& directory,
                                     v1::BackendKind backend,
                                     v1::ShardRecord& record);

// Refuses what a newer version wrote to `source`.
// Errors: kFailedPrecondition.
absl::Status CheckFormatVersion(const v1::ShardRecord& record,
                                const std::string& source);

// Checks a record that was read from `source`.
// Errors: as above.
absl::Status CheckShardRecord(const v1::ShardRecord& record,
                              v1::BackendKind backend,
                              const std::string& source);

// Errors: as WriteFileAtomically().
absl::Status WriteShardRecord(const std::string& directory,
                              const v1::ShardRecord& record, bool sync);

// The directory holds state but no record.
absl::Status MissingShardRecord(const std::string& directory);

}  // namespace mayfly::state_internal
