// What a path on the command line stands for.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly::tool {

struct Stored {
  // As given, or the newest of the checkpoints in it.
  std::string path;
  // Directories of shards, or files of savepoints.
  std::vector<std::string> shards;
  // It is a checkpoint or a savepoint of a job, which have a manifest.
  bool is_checkpoint = false;
};

// `path` itself if it is a shard's directory or the file of a savepoint; the
// shards in it if it is the state directory of a job, a checkpoint or a
// savepoint; those of the newest if it is a directory of checkpoints or
// savepoints.
// Errors: kNotFound if it is none of these; kUnavailable if it cannot be read.
absl::StatusOr<Stored> Find(const std::string& path);

// Whether `path` is one shard, which is all that some commands take.
// Errors: kInvalidArgument if it holds several, naming them; as Find().
absl::Status CheckIsOneShard(const std::string& path);

// Whether a shard is part of a checkpoint, which must stay as it is; of one
// without a manifest, too.
bool IsInCheckpoint(const std::string& shard);

}  // namespace mayfly::tool
