#include "runtime/checkpoint_manifest.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/internal/record_file.h"

namespace mayfly {
namespace runtime_internal {
namespace {

namespace fs = std::filesystem;

// The version this program writes, and the newest it reads.
constexpr std::uint32_t kFormatVersion = 1;

std::optional<std::uint64_t> NumberOf(const std::string& name) {
  absl::string_view digits = name;
  std::uint64_t number = 0;
  if ((!absl::ConsumePrefix(&digits,
                            ToAbsl(PrefixOf(v1::CHECKPOINT_KIND_CHECKPOINT))) &&
       !absl::ConsumePrefix(&digits,
                            ToAbsl(PrefixOf(v1::CHECKPOINT_KIND_SAVEPOINT)))) ||
      !absl::SimpleAtoi(digits, &number)) {
    return std::nullopt;
  }
  return number;
}

// A path that leads out of the checkpoint is nobody's.
bool StaysInside(const std::string& path) {
  const fs::path relative(path);
  return !path.empty() && relative.is_relative() &&
         std::ranges::none_of(relative, [](const fs::path& part) {
           return part == ".." || part == ".";
         });
}

}  // namespace

std::string_view PrefixOf(v1::CheckpointKind kind) {
  return kind == v1::CHECKPOINT_KIND_SAVEPOINT ? "savepoint-" : "checkpoint-";
}

bool IsNamedCheckpoint(const std::string& path) {
  return fs::path(path).filename().string().starts_with(
      PrefixOf(v1::CHECKPOINT_KIND_CHECKPOINT));
}

v1::BackendKind RecordedKind(BackendKind backend) {
  return backend == BackendKind::kHeap ? v1::BACKEND_KIND_HEAP
                                       : v1::BACKEND_KIND_ROCKSDB;
}

absl::Status WriteManifest(const std::string& checkpoint,
                           v1::CheckpointManifest manifest, bool sync) {
  manifest.set_format_version(kFormatVersion);
  return state_internal::WriteRecordFile(
      absl::StrCat(checkpoint, "/", kManifestFile), manifest, sync);
}

absl::StatusOr<v1::CheckpointManifest> ReadManifest(
    const std::string& checkpoint) {
  v1::CheckpointManifest manifest;
  MAYFLY_RETURN_IF_ERROR(state_internal::ReadRecordFile(
      absl::StrCat(checkpoint, "/", kManifestFile), manifest));
  if (manifest.format_version() > kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", checkpoint, "' has format version ", manifest.format_version(),
        ", and this program reads up "
        "to ",
        kFormatVersion, "; use the newer program that wrote it"));
  }
  bool whole = manifest.format_version() > 0 && manifest.shards_size() > 0;
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    whole &= shard.files_size() > 0;
    for (const v1::CheckpointedFile& file : shard.files()) {
      whole &= StaysInside(file.path());
    }
  }
  if (whole) return manifest;
  return absl::DataLossError(absl::StrCat("'", checkpoint, "/", kManifestFile,
                                          "' is not that of a checkpoint"));
}

std::uint64_t BytesOf(const v1::CheckpointShard& shard) {
  std::uint64_t bytes = 0;
  for (const v1::CheckpointedFile& file : shard.files()) bytes += file.bytes();
  return bytes;
}

std::uint64_t BytesOf(const v1::CheckpointManifest& manifest) {
  std::uint64_t bytes = 0;
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    bytes += BytesOf(shard);
  }
  return bytes;
}

absl::Status VerifyFiles(
    const std::string& checkpoint, const v1::CheckpointManifest& manifest,
    const std::function<absl::Status(std::uint64_t bytes)>& count) {
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    for (const v1::CheckpointedFile& file : shard.files()) {
      const std::string path = absl::StrCat(checkpoint, "/", file.path());
      const auto digest = state_internal::DigestFile(path);
      if (absl::IsNotFound(digest.status())) {
        return absl::DataLossError(absl::StrCat("'", path, "' is missing"));
      }
      MAYFLY_RETURN_IF_ERROR(digest.status());
      if (digest->bytes != file.bytes() || digest->crc32c != file.crc32c()) {
        return absl::DataLossError(absl::StrCat(
            "'", path, "' is damaged: it has ", digest->bytes, " bytes of ",
            file.bytes(),
            digest->bytes == file.bytes() ? ", and other ones" : ""));
      }
      MAYFLY_RETURN_IF_ERROR(count(file.bytes()));
    }
  }
  return absl::OkStatus();
}

}  // namespace runtime_internal

absl::StatusOr<std::vector<StoredCheckpoint>> ListCheckpoints(
    const std::string& directory) {
  std::vector<StoredCheckpoint> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end;
       !error && at != end; at.increment(error)) {
    if (const auto number =
            runtime_internal::NumberOf(at->path().filename().string())) {
      found.push_back({.number = *number, .path = at->path().string()});
    }
  }
  if (error) {
    return state_internal::FileError(error.value(), "list", directory);
  }
  std::ranges::sort(found, std::ranges::greater(), &StoredCheckpoint::number);
  return found;
}

bool IsCheckpoint(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(
      absl::StrCat(path, "/", runtime_internal::kManifestFile), ignored);
}

absl::Status VerifyCheckpoint(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const v1::CheckpointManifest manifest,
                          runtime_internal::ReadManifest(path));
  return runtime_internal::VerifyFiles(
      path, manifest, [](std::uint64_t) { return absl::OkStatus(); });
}

}  // namespace mayfly
