#include "mayfly/runtime/stored_job.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/runtime/stored_checkpoint.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/inspect.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/capture.h"
#include "runtime/checkpoint_manifest.h"
#include "runtime/checkpoint_store.h"
#include "runtime/job_directory.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using runtime_internal::CapturedJob;
using runtime_internal::CapturedShard;
using runtime_internal::CheckpointStore;
using runtime_internal::JobDirectory;
using runtime_internal::StoreResult;
using state_internal::DirectoryLock;

// What the directory says of its job, checked as the job itself would.
absl::StatusOr<v1::JobRecord> ReadJobRecord(const std::string& directory) {
  v1::JobRecord record;
  const absl::Status read = state_internal::ReadRecordFile(
      absl::StrCat(directory, "/", runtime_internal::kJobRecordFile), record);
  if (absl::IsNotFound(read)) {
    return absl::NotFoundError(absl::StrCat(
        "'", directory, "' is no job's state directory: it has no ",
        runtime_internal::kJobRecordFile));
  }
  MAYFLY_RETURN_IF_ERROR(read);
  JobOptions options;
  options.name = record.name();
  options.shards = static_cast<int>(record.shards());
  options.state_directory = directory;
  MAYFLY_ASSIGN_OR_RETURN(const auto whole, JobDirectory::Look(options));
  if (whole) {
    MAYFLY_RETURN_IF_ERROR(JobDirectory::CheckShards(options));
    return *whole;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "'", directory,
      "' holds no job yet: its first start was broken off; start it again"));
}

absl::StatusOr<CapturedShard> CapturedAt(const InspectedShard& shard) {
  CapturedShard captured;
  if (captured.position.ParseFromString(shard.position)) return captured;
  return absl::DataLossError(absl::StrCat(
      "'", shard.path,
      "': the position of the last commit does not decode; restore an earlier "
      "checkpoint of the job"));
}

// The job itself refuses one directory for both, too.
absl::Status CheckHoldsNoCheckpoints(const std::string& directory) {
  const auto stored = ListCheckpoints(directory);
  if (absl::IsNotFound(stored.status())) return absl::OkStatus();
  MAYFLY_RETURN_IF_ERROR(stored.status());
  for (const StoredCheckpoint& checkpoint : *stored) {
    if (!runtime_internal::IsNamedCheckpoint(checkpoint.path)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "'", directory, "' holds checkpoints, as '", checkpoint.path,
        "'; give savepoints a directory of their own"));
  }
  return absl::OkStatus();
}

// The job as its shards were committed.
absl::StatusOr<CapturedJob> CaptureStopped(const v1::JobRecord& record,
                                           const std::string& directory) {
  const auto shards = static_cast<int>(record.shards());
  CapturedJob captured{.directory = directory};
  runtime_internal::Capture capture(directory, shards, [] {});
  for (int i = 0; i < shards; ++i) {
    MAYFLY_ASSIGN_OR_RETURN(const InspectedShard shard,
                            InspectCommit(capture.ShardDirectory(i)));
    captured.manifest.set_backend(runtime_internal::RecordedKind(
        shard.backend == "heap" ? BackendKind::kHeap : BackendKind::kRocksdb));
    capture.Add(i, CapturedAt(shard));
  }
  MAYFLY_ASSIGN_OR_RETURN(captured.shards, capture.Take());
  captured.manifest.set_job(record.name());
  captured.manifest.set_time_ms(SystemClock()->NowMs());
  *captured.manifest.mutable_retired_output_bytes() =
      record.retired_output_bytes();
  *captured.manifest.mutable_lineage() = record.lineage();
  return captured;
}

}  // namespace

bool IsJobDirectory(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::path(path) / runtime_internal::kJobRecordFile, ignored);
}

absl::Status VerifyJobDirectory(const std::string& state_directory) {
  return ReadJobRecord(state_directory).status();
}

absl::StatusOr<WrittenSavepoint> WriteJobSavepoint(
    const std::string& state_directory,
    const std::string& savepoint_directory) {
  MAYFLY_RETURN_IF_ERROR(CheckHoldsNoCheckpoints(savepoint_directory));
  MAYFLY_ASSIGN_OR_RETURN(const DirectoryLock lock,
                          DirectoryLock::AcquireForReading(state_directory));
  MAYFLY_ASSIGN_OR_RETURN(const v1::JobRecord record,
                          ReadJobRecord(state_directory));
  MAYFLY_ASSIGN_OR_RETURN(const CapturedJob captured,
                          CaptureStopped(record, state_directory));
  MAYFLY_ASSIGN_OR_RETURN(
      CheckpointStore store,
      CheckpointStore::Open(savepoint_directory, record.name(),
                            record.lineage(), Durability::kMachine));
  MAYFLY_ASSIGN_OR_RETURN(StoreResult written, store.PutSavepoint(captured));
  return WrittenSavepoint{.path = std::move(written.path),
                          .bytes = written.bytes};
}

}  // namespace mayfly
