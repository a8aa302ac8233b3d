#include "mayfly/shards.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mayfly/runtime/stored_checkpoint.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::tool {
namespace {

namespace fs = std::filesystem;

bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Directories of shards, and the files of savepoints.
absl::StatusOr<std::vector<std::string>> ShardsIn(const std::string& path) {
  std::vector<std::string> shards;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("shard-") && !name.ends_with(".tmp")) {
      shards.push_back(at->path().string());
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot list '", path, "': ", error.message()));
  }
  std::ranges::sort(shards);
  return shards;
}

// It may have lost its manifest.
bool IsNamedLikeOne(const fs::path& path) {
  std::error_code ignored;
  const std::string name =
      fs::weakly_canonical(path, ignored).filename().string();
  return name.starts_with("checkpoint-") || name.starts_with("savepoint-");
}

}  // namespace

absl::StatusOr<Stored> Find(const std::string& path) {
  if (!IsThere(path)) {
    return absl::NotFoundError(absl::StrCat("there is no '", path, "'"));
  }
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) ||
      IsThere(fs::path(path) / "MANIFEST.mayfly")) {
    return Stored{.path = path, .shards = {path}};
  }
  MAYFLY_ASSIGN_OR_RETURN(std::vector<std::string> shards, ShardsIn(path));
  if (!shards.empty()) {
    return Stored{.path = path,
                  .shards = std::move(shards),
                  .is_checkpoint = IsCheckpoint(path) || IsNamedLikeOne(path)};
  }
  MAYFLY_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(path));
  if (!checkpoints.empty()) return Find(checkpoints.front().path);
  return absl::NotFoundError(absl::StrCat(
      "'", path,
      "' is no state: neither a shard's directory, a job's state directory, a "
      "checkpoint, a savepoint, nor a directory of these"));
}

absl::Status CheckIsOneShard(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const Stored stored, Find(path));
  if (stored.shards.front() == path) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path, "' is not one shard, but holds the shards of a job: give one ",
      "of ", absl::StrJoin(stored.shards, ", "),
      "; a whole job is restored by the job itself, from '", stored.path,
      "' if it is a checkpoint or a savepoint"));
}

bool IsInCheckpoint(const std::string& shard) {
  std::error_code ignored;
  const fs::path holder = fs::weakly_canonical(shard, ignored).parent_path();
  return IsCheckpoint(holder) || IsNamedLikeOne(holder);
}

}  // namespace mayfly::tool
