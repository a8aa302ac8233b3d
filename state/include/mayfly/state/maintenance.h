// What can be done to a shard's directory while no job has it open.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mayfly {

// Rewrites the database of a shard, so that what had expired at its last commit
// leaves the disk. On heap there is nothing to do.
// Errors: kFailedPrecondition if a process has the directory open, or a newer
// version wrote it; kNotFound if it is no shard's; kDataLoss if it is damaged;
// kResourceExhausted for a full disk; kPermissionDenied and kUnavailable as the
// disk has it.
absl::Status CompactShard(const std::string& directory);

}  // namespace mayfly
