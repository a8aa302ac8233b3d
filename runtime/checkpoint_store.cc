#include "runtime/checkpoint_store.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/savepoint.h"
#include "runtime/checkpoint_manifest.h"
#include "runtime/lineage.h"
#include "runtime/output_file.h"

namespace mayfly::runtime_internal {
namespace {

namespace fs = std::filesystem;
using state_internal::FileDigest;
using state_internal::FileError;
using state_internal::RemoveAll;

constexpr char kUnfinished[] = ".tmp";

absl::Status RemoveUnfinished(const std::string& directory) {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != kUnfinished) continue;
    MAYFLY_RETURN_IF_ERROR(RemoveAll(entry.path().string()));
  }
  return error ? FileError(error.value(), "list", directory) : absl::OkStatus();
}

absl::Status OfAnotherLineage(const std::string& directory,
                              const std::string& checkpoint,
                              const v1::CheckpointManifest& manifest,
                              const v1::Lineage& lineage) {
  return absl::FailedPreconditionError(absl::StrCat(
      "directory of checkpoints '", directory, "' holds '", checkpoint,
      "' of another life of job '", manifest.job(), "', ",
      ToString(manifest.lineage()), ", and this one was ", ToString(lineage),
      "; give this one a directory of its own, or go on with the other: a new "
      "state directory, and restore_from '",
      directory, "'"));
}

}  // namespace

absl::StatusOr<CheckpointStore> CheckpointStore::Open(
    const std::string& path, const std::string& job, const v1::Lineage& lineage,
    Durability durability) {
  MAYFLY_RETURN_IF_ERROR(state_internal::MakeDirectory(path));
  auto lock = state_internal::DirectoryLock::Acquire(path);
  if (!lock.ok()) {
    return Annotate(lock.status(), "directory of checkpoints or savepoints");
  }
  CheckpointStore store(path, *std::move(lock),
                        durability == Durability::kMachine);
  MAYFLY_RETURN_IF_ERROR(store.LookAround(job, lineage));
  MAYFLY_RETURN_IF_ERROR(RemoveUnfinished(path));
  return store;
}

absl::Status CheckpointStore::LookAround(const std::string& job,
                                         const v1::Lineage& lineage) {
  MAYFLY_ASSIGN_OR_RETURN(const auto stored, ListCheckpoints(path_));
  for (const StoredCheckpoint& checkpoint : stored) {
    next_number_ = std::max(next_number_, checkpoint.number + 1);
    const auto manifest = ReadManifest(checkpoint.path);
    if (absl::IsFailedPrecondition(manifest.status())) return manifest.status();
    if (!manifest.ok()) continue;
    if (manifest->job() != job) {
      return absl::FailedPreconditionError(absl::StrCat(
          "'", checkpoint.path, "' is of the job '", manifest->job(),
          "', not of '", job, "'; give each job a directory of its own"));
    }
    if (manifest->kind() == v1::CHECKPOINT_KIND_CHECKPOINT &&
        !IsSame(manifest->lineage(), lineage)) {
      return OfAnotherLineage(path_, checkpoint.path, *manifest, lineage);
    }
    if (!known_path_.empty()) continue;
    Remember(checkpoint.path, *manifest);
    const v1::ShardPosition& position = manifest->shards(0).position();
    found_at_ = {.bytes = position.input_bytes(),
                 .lines = position.input_lines()};
  }
  return absl::OkStatus();
}

void CheckpointStore::Remember(const std::string& path,
                               const v1::CheckpointManifest& manifest) {
  known_path_ = path;
  known_.clear();
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    for (const v1::CheckpointedFile& file : shard.files()) {
      known_[file.path()] = {.bytes = file.bytes(), .crc32c = file.crc32c()};
    }
  }
}

// Table files never change, so that what is the same is the same file.
bool CheckpointStore::IsKnown(const v1::CheckpointedFile& file) const {
  const auto it = known_.find(file.path());
  return absl::EndsWith(file.path(), ".sst") && it != known_.end() &&
         it->second == FileDigest{file.bytes(), file.crc32c()};
}

std::string CheckpointStore::NextPath(v1::CheckpointKind kind) const {
  return absl::StrCat(path_, "/", ToAbsl(PrefixOf(kind)),
                      absl::Dec(next_number_, absl::kZeroPad5));
}

absl::StatusOr<StoreResult> CheckpointStore::PutCheckpoint(
    const CapturedJob& captured) {
  v1::CheckpointManifest manifest = captured.manifest;
  manifest.set_kind(v1::CHECKPOINT_KIND_CHECKPOINT);
  return Put(std::move(manifest),
             [&](const std::string& directory, auto& filled) {
               return FillCheckpoint(captured, directory, filled);
             });
}

absl::StatusOr<StoreResult> CheckpointStore::PutSavepoint(
    const CapturedJob& captured) {
  v1::CheckpointManifest manifest = captured.manifest;
  manifest.set_kind(v1::CHECKPOINT_KIND_SAVEPOINT);
  return Put(std::move(manifest),
             [&](const std::string& directory, auto& filled) {
               return FillSavepoint(captured, directory, filled);
             });
}

template <typename Fill>
absl::StatusOr<StoreResult> CheckpointStore::Put(
    v1::CheckpointManifest manifest, Fill fill) {
  StoreResult result{.path = NextPath(manifest.kind())};
  const std::string unfinished = result.path + kUnfinished;
  MAYFLY_RETURN_IF_ERROR(RemoveAll(unfinished));
  MAYFLY_RETURN_IF_ERROR(state_internal::MakeDirectory(unfinished));
  absl::Cleanup remove = [&] { RemoveAll(unfinished).IgnoreError(); };
  manifest.set_number(next_number_);
  MAYFLY_RETURN_IF_ERROR(fill(unfinished, manifest));
  MAYFLY_RETURN_IF_ERROR(WriteManifest(unfinished, manifest, sync_));
  if (sync_) MAYFLY_RETURN_IF_ERROR(state_internal::SyncTree(unfinished));
  MAYFLY_RETURN_IF_ERROR(
      state_internal::RenameFile(unfinished, result.path, sync_));
  std::move(remove).Cancel();
  ++next_number_;
  result.bytes = BytesOf(manifest);
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    for (const v1::CheckpointedFile& file : shard.files()) {
      if (!IsKnown(file)) result.bytes_new += file.bytes();
    }
  }
  Remember(result.path, manifest);
  return result;
}

absl::Status CheckpointStore::FillCheckpoint(
    const CapturedJob& captured, const std::string& directory,
    v1::CheckpointManifest& manifest) const {
  for (std::size_t i = 0; i < captured.shards.size(); ++i) {
    const std::string name = Numbered("shard-", static_cast<int>(i));
    v1::CheckpointShard& shard = *manifest.add_shards();
    *shard.mutable_position() = captured.shards[i].position;
    for (const CheckpointFile& file : captured.shards[i].files) {
      v1::CheckpointedFile& entry = *shard.add_files();
      entry.set_path(absl::StrCat(name, "/", file.path));
      entry.set_bytes(file.bytes);
      entry.set_crc32c(file.crc32c);
    }
    MAYFLY_RETURN_IF_ERROR(
        PlaceShard(captured.directory, directory, name, shard));
  }
  return absl::OkStatus();
}

absl::Status CheckpointStore::PlaceShard(
    const std::string& from, const std::string& directory,
    const std::string& name, const v1::CheckpointShard& shard) const {
  std::error_code error;
  fs::rename(fs::path(from) / name, fs::path(directory) / name, error);
  if (!error) return absl::OkStatus();
  if (error != std::errc::cross_device_link) {
    return FileError(error.value(), "move a shard to", directory);
  }
  for (const v1::CheckpointedFile& file : shard.files()) {
    MAYFLY_RETURN_IF_ERROR(CopyIn(from, directory, file));
  }
  return absl::OkStatus();
}

absl::Status CheckpointStore::CopyIn(const std::string& from,
                                     const std::string& to,
                                     const v1::CheckpointedFile& file) const {
  const std::string target = absl::StrCat(to, "/", file.path());
  MAYFLY_RETURN_IF_ERROR(
      state_internal::MakeDirectory(fs::path(target).parent_path().string()));
  if (IsKnown(file)) {
    const auto linked = state_internal::LinkFile(
        absl::StrCat(known_path_, "/", file.path()), target);
    // Somebody may have removed the checkpoint before.
    if (linked.ok() && *linked) return absl::OkStatus();
  }
  const std::string source = absl::StrCat(from, "/", file.path());
  MAYFLY_ASSIGN_OR_RETURN(const FileDigest copied,
                          state_internal::CopyFile(source, target, sync_));
  if (copied == FileDigest{file.bytes(), file.crc32c()}) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "'", source, "' is not what it was when it was written; check the disk"));
}

absl::Status CheckpointStore::FillSavepoint(
    const CapturedJob& captured, const std::string& directory,
    v1::CheckpointManifest& manifest) const {
  TransferOptions options;
  if (sync_) options.durability = Durability::kMachine;
  for (std::size_t i = 0; i < captured.shards.size(); ++i) {
    const std::string name = Numbered("shard-", static_cast<int>(i));
    const std::string file = absl::StrCat(name, ".savepoint");
    const std::string path = absl::StrCat(directory, "/", file);
    MAYFLY_RETURN_IF_ERROR(
        WriteSavepoint(absl::StrCat(captured.directory, "/", name), path,
                       options)
            .status());
    MAYFLY_ASSIGN_OR_RETURN(const FileDigest digest,
                            state_internal::DigestFile(path));
    v1::CheckpointShard& shard = *manifest.add_shards();
    *shard.mutable_position() = captured.shards[i].position;
    v1::CheckpointedFile& entry = *shard.add_files();
    entry.set_path(file);
    entry.set_bytes(digest.bytes);
    entry.set_crc32c(digest.crc32c);
  }
  return absl::OkStatus();
}

absl::Status CheckpointStore::KeepNewest(int keep) {
  MAYFLY_ASSIGN_OR_RETURN(const auto stored, ListCheckpoints(path_));
  for (const StoredCheckpoint& checkpoint : stored) {
    // Savepoints are nobody's to remove.
    if (!IsNamedCheckpoint(checkpoint.path)) continue;
    // What lacks its manifest is no checkpoint, and saves nobody.
    const bool counts = fs::exists(fs::path(checkpoint.path) / kManifestFile);
    if (keep > 0) {
      keep -= counts ? 1 : 0;
      continue;
    }
    MAYFLY_RETURN_IF_ERROR(RemoveAll(checkpoint.path));
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckpointStores> OpenStores(const JobOptions& options,
                                            const v1::Lineage& lineage) {
  const auto open = [&](const std::string& path) {
    return CheckpointStore::Open(path, options.name, lineage,
                                 options.durability);
  };
  CheckpointStores stores;
  if (options.checkpoints) {
    MAYFLY_ASSIGN_OR_RETURN(stores.checkpoints,
                            open(options.checkpoints->directory));
  }
  if (!options.savepoint_directory.empty()) {
    MAYFLY_ASSIGN_OR_RETURN(stores.savepoints,
                            open(options.savepoint_directory));
  }
  return stores;
}

}  // namespace mayfly::runtime_internal
