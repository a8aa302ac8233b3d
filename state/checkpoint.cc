#include "mayfly/state/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/backend_core.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/state/internal/file_io.h"
#include "state/shard_record.h"

namespace mayfly::state_internal {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<CheckpointFiles> DigestFiles(
    const std::string& directory,
    const std::map<std::string, std::uint32_t>& known) {
  CheckpointFiles files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end;
       !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error) || error) continue;
    CheckpointFile& file = files.emplace_back();
    file.path = fs::path(at->path()).lexically_relative(directory).string();
    if (const auto it = known.find(file.path); it != known.end()) {
      file.bytes = at->file_size(error);
      file.crc32c = it->second;
      continue;
    }
    MAYFLY_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(at->path()));
    file.bytes = digest.bytes;
    file.crc32c = digest.crc32c;
  }
  if (error) return FileError(error.value(), "read", directory);
  std::ranges::sort(files, {}, &CheckpointFile::path);
  return files;
}

}  // namespace

absl::StatusOr<CheckpointFiles> BackendCore::Checkpoint(
    const std::string& directory) {
  if (options_.directory.empty()) {
    return absl::FailedPreconditionError(
        "a backend without a directory keeps nothing of which there could be a "
        "checkpoint; give it one in BackendOptions");
  }
  if (!has_commit()) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", options_.directory,
                     "' has no commit of which there could be a checkpoint; "
                     "commit first"));
  }
  std::error_code ignored;
  if (fs::exists(directory, ignored)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", directory, "' is there already; give a new directory"));
  }
  // A crash may have left one behind.
  const std::string unfinished = directory + ".tmp";
  MAYFLY_RETURN_IF_ERROR(RemoveAll(unfinished));
  MAYFLY_RETURN_IF_ERROR(MakeDirectory(unfinished));
  absl::Cleanup remove_unfinished = [&] {
    RemoveAll(unfinished).IgnoreError();
  };
  const bool sync = options_.durability == Durability::kMachine;
  MAYFLY_RETURN_IF_ERROR(CopyFile(ShardRecordPath(options_.directory),
                                  ShardRecordPath(unfinished), sync)
                             .status());
  MAYFLY_RETURN_IF_ERROR(CopyStored(unfinished));
  MAYFLY_ASSIGN_OR_RETURN(const auto known, KnownChecksums());
  MAYFLY_ASSIGN_OR_RETURN(CheckpointFiles files,
                          DigestFiles(unfinished, known));
  MAYFLY_RETURN_IF_ERROR(RenameFile(unfinished, directory, sync));
  std::move(remove_unfinished).Cancel();
  return files;
}

}  // namespace mayfly::state_internal
