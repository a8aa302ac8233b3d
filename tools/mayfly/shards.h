// The shards that a path on the command line stands for.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mayfly::tool {

// `path` itself if it is a shard's directory or the file of a savepoint; the
// shards in it if it is the state directory of a job, a checkpoint or a
// savepoint; those of the newest if it is a directory of checkpoints or
// savepoints.
// Errors: kNotFound if it is none of these.
absl::StatusOr<std::vector<std::string>> ShardsOf(const std::string& path);

}  // namespace mayfly::tool
