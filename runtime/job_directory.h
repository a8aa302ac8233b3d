// The state directory of a job: what it is of, and one directory a shard.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/v1/job.pb.h"

namespace mayfly::runtime_internal {

// What the directory says of its job.
inline constexpr char kJobRecordFile[] = "JOB.mayfly";

// What a directory that holds no job is to hold.
struct JobBeginning {
  v1::Lineage lineage;
  // The checkpoint or savepoint that it is restored from; empty: from nothing.
  std::string restoring_from = {};
  // Lengths of the parts of the output that have no shard any more.
  std::vector<std::uint64_t> retired_output_bytes = {};
};

// Threads: one, const methods any.  Lifetime: holds the directory's lock.
class JobDirectory {
 public:
  // What the directory says of the job that it holds, which is the one of the
  // options; nullopt if it holds none, or one whose beginning was broken off,
  // which is begun once more. Changes nothing.
  // Errors: kFailedPrecondition if it is of another job, of another number of
  // shards or of a newer version, or if a restore was broken off and there is
  // no `restore_from`; kDataLoss if it is damaged; as
  // state_internal::FileError().
  static absl::StatusOr<std::optional<v1::JobRecord>> Look(
      const JobOptions& options);

  // Whether each shard of a job that has begun is there.
  // Errors: kDataLoss naming the first whose directory is gone or empty.
  static absl::Status CheckShards(const JobOptions& options);

  // Locks the directory, made if need be. Without a path nothing is kept.
  //
  // With a beginning, for a directory in which Look() finds no job, it is
  // emptied, and holds no whole job before FinishBeginning().
  // Errors: kInvalidArgument if a file is in the way; kFailedPrecondition if
  // the directory is in use; kUnavailable if it is not any more what Look()
  // found; as Look().
  static absl::StatusOr<JobDirectory> Open(
      const JobOptions& options, const std::optional<JobBeginning>& beginning);

  bool is_beginning() const {
    return record_.beginning() || !record_.restoring_from().empty();
  }

  // All shards are there, and the output is open.
  // Errors: as state_internal::FileError().
  absl::Status FinishBeginning();

  // Removes what was begun: the directory holds no job again.
  // Errors: as state_internal::FileError().
  absl::Status AbandonBeginning();

  const v1::Lineage& lineage() const { return record_.lineage(); }

  // Empty if nothing is kept.
  std::string ShardDirectory(int shard) const;

  // Where shards leave what they have captured. A crash may leave something
  // there; Open() removes it.
  std::string CaptureDirectory(std::uint64_t number) const;

  std::vector<std::uint64_t> retired_output_bytes() const {
    return {record_.retired_output_bytes().begin(),
            record_.retired_output_bytes().end()};
  }

 private:
  JobDirectory(std::string path, bool sync, state_internal::DirectoryLock lock)
      : path_(std::move(path)), sync_(sync), lock_(std::move(lock)) {}

  absl::Status Begin(const JobOptions& options, const JobBeginning& beginning);
  absl::Status RemoveShards() const;
  absl::Status WriteRecord() const;

  std::string path_;
  bool sync_;
  state_internal::DirectoryLock lock_;
  v1::JobRecord record_;
};

}  // namespace mayfly::runtime_internal
