// The checkpoints and savepoints of jobs as they lie on disk, for programs that
// look after them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

struct StoredCheckpoint {
  std::uint64_t number = 0;
  std::string path;
};

// The checkpoints and savepoints in a directory, whole or not, the newest
// first. What is still being written is not among them.
// Errors: kNotFound, kPermissionDenied and kUnavailable if the directory cannot
// be read.
// Threads: any.
absl::StatusOr<std::vector<StoredCheckpoint>> ListCheckpoints(
    const std::string& directory);

// Whether `path` is a checkpoint or a savepoint of a job, which has a manifest;
// nothing is said of what is in it.
// Threads: any.
bool IsCheckpoint(const std::string& path);

// Reads all files of a checkpoint or a savepoint and compares them with its
// manifest.
// Errors: kDataLoss naming the first file that is missing or another one than
// was written; kFailedPrecondition if a newer version wrote it; kNotFound if it
// has no manifest; kUnavailable if something cannot be read.
// Threads: any.
absl::Status VerifyCheckpoint(const std::string& path);

}  // namespace mayfly
