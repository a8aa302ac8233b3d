// A directory of checkpoints, or of savepoints, of one job.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/runtime/source.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/capture.h"

namespace mayfly::runtime_internal {

// What a job has captured, and what its manifest says of it beside the files.
struct CapturedJob {
  // Holds a directory a shard, which nobody else uses.
  std::string directory;
  std::vector<CapturedShard> shards;
  v1::CheckpointManifest manifest;
};

struct StoreResult {
  std::string path;
  std::uint64_t bytes = 0;
  // Of files that the one before does not have.
  std::uint64_t bytes_new = 0;
};

// Threads: one.  Lifetime: holds the directory's lock.
class CheckpointStore {
 public:
  // Locks the directory, made if need be, and removes what a crash has left
  // half-done.
  // Errors: kFailedPrecondition if it is in use, if something in it is of
  // another job or of a newer version, or if a checkpoint in it is of another
  // lineage: they would take turns, and remove one another; as
  // state_internal::FileError().
  static absl::StatusOr<CheckpointStore> Open(const std::string& path,
                                              const std::string& job,
                                              const v1::Lineage& lineage,
                                              Durability durability);

  // Where the newest one found by Open() stands in the input; nullopt if there
  // was none.
  const std::optional<SourcePosition>& found_at() const { return found_at_; }

  // Makes the next checkpoint of what was captured, which is moved there if the
  // file system is the same; otherwise only what the one before does not have
  // is copied. Nobody sees it before it is whole.
  // Errors: kDataLoss if a copy is not what was captured; as
  // state_internal::FileError(). Nothing is left of what failed.
  absl::StatusOr<StoreResult> PutCheckpoint(const CapturedJob& captured);

  // Makes the next savepoint of what was captured, which stays as it is.
  // Errors: of WriteSavepoint(); as above.
  absl::StatusOr<StoreResult> PutSavepoint(const CapturedJob& captured);

  // Removes all checkpoints but so many of the newest.
  // Errors: as state_internal::FileError().
  absl::Status KeepNewest(int keep);

 private:
  // By their paths in the checkpoint before.
  using KnownFiles = std::map<std::string, state_internal::FileDigest>;

  CheckpointStore(std::string path, state_internal::DirectoryLock lock,
                  bool sync)
      : path_(std::move(path)), lock_(std::move(lock)), sync_(sync) {}

  absl::Status LookAround(const std::string& job, const v1::Lineage& lineage);
  void Remember(const std::string& path,
                const v1::CheckpointManifest& manifest);
  bool IsKnown(const v1::CheckpointedFile& file) const;

  std::string NextPath(v1::CheckpointKind kind) const;
  absl::Status FillCheckpoint(const CapturedJob& captured,
                              const std::string& directory,
                              v1::CheckpointManifest& manifest) const;
  absl::Status FillSavepoint(const CapturedJob& captured,
                             const std::string& directory,
                             v1::CheckpointManifest& manifest) const;
  absl::Status PlaceShard(const std::string& from, const std::string& directory,
                          const std::string& name,
                          const v1::CheckpointShard& shard) const;
  absl::Status CopyIn(const std::string& from, const std::string& to,
                      const v1::CheckpointedFile& file) const;
  // `fill` puts the files into a directory and their names into the manifest.
  template <typename Fill>
  absl::StatusOr<StoreResult> Put(v1::CheckpointManifest manifest, Fill fill);

  std::string path_;
  state_internal::DirectoryLock lock_;
  bool sync_;
  std::uint64_t next_number_ = 1;
  std::optional<SourcePosition> found_at_;
  std::string known_path_;
  KnownFiles known_;
};

// Those that the options name.
struct CheckpointStores {
  std::optional<CheckpointStore> checkpoints;
  std::optional<CheckpointStore> savepoints;
};

// Errors: as CheckpointStore::Open().
absl::StatusOr<CheckpointStores> OpenStores(const JobOptions& options,
                                            const v1::Lineage& lineage);

}  // namespace mayfly::runtime_internal
