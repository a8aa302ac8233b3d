// The state directory of a job: what it is of, and one directory a shard.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::runtime_internal {

// Threads: one.  Lifetime: holds the directory's lock.
class JobDirectory {
 public:
  // Locks the directory, made if need be, and makes sure that what lies in it
  // is of this job. Without a path nothing is kept.
  // Errors: kInvalidArgument if a file is in the way; kFailedPrecondition if
  // the directory is in use, or of another job, of another number of shards or
  // of a newer version; kDataLoss if it is damaged; as
  // state_internal::FileError().
  static absl::StatusOr<JobDirectory> Open(const JobOptions& options);

  // Empty if nothing is kept.
  std::string ShardDirectory(int shard) const;

 private:
  JobDirectory(std::string path, state_internal::DirectoryLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  state_internal::DirectoryLock lock_;
};

}  // namespace mayfly::runtime_internal
