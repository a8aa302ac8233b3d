// The state directory of a job that is stopped, for programs that look after
// it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// Whether `path` is where a job keeps its state; nothing is said of what is in
// it.
// Threads: any.
bool IsJobDirectory(const std::string& path);

// Whether the job would go on with its state directory, as far as the record of
// the job and the presence of its shards tell; what is in the shards is for
// VerifyShard().
// Errors: kNotFound if it is no job's state directory; kDataLoss if the record
// is damaged or a shard is missing; kFailedPrecondition if a start or a restore
// was broken off, or a newer version wrote it.
// Threads: any.
absl::Status VerifyJobDirectory(const std::string& state_directory);

struct WrittenSavepoint {
  std::string path;
  std::uint64_t bytes = 0;
};

// Writes the next savepoint of a job that is stopped into a directory of its
// savepoints, made if need be, as the job itself does: restore_from takes it.
// The state directory stays as it is, and nobody can start the job meanwhile.
// The disk has all of it when this returns.
// Errors: kNotFound if it is no job's state directory; kFailedPrecondition if
// the job is running, was being restored, was written by a newer version, or
// was killed so that its shards stand at different places of the input, and if
// the savepoints are of another job; kDataLoss if the state is damaged;
// kResourceExhausted for a full disk; kPermissionDenied and kUnavailable as the
// disk has it. An error leaves no savepoint.
absl::StatusOr<WrittenSavepoint> WriteJobSavepoint(
    const std::string& state_directory, const std::string& savepoint_directory);

}  // namespace mayfly
