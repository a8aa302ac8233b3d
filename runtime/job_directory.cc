#include "runtime/job_directory.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/record_file.h"
#include "runtime/output_file.h"

namespace mayfly::runtime_internal {
namespace {

constexpr char kCaptures[] = "/captures";
constexpr char kShardPrefix[] = "shard-";

// The version this program writes, and the newest it reads.
constexpr std::uint32_t kFormatVersion = 1;

absl::Status CheckRecord(const v1::JobRecord& record, const std::string& path,
                         const JobOptions& options) {
  if (record.format_version() > kFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("state directory '", path, "' has format version ",
                     record.format_version(), ", and this program reads up to ",
                     kFormatVersion, "; use the newer program that wrote it"));
  }
  if (record.name() != options.name) {
    return absl::FailedPreconditionError(
        absl::StrCat("state directory '", path, "' is of the job '",
                     record.name(), "', not of '", options.name,
                     "'; give each job a directory of its "
                     "own"));
  }
  if (record.shards() != static_cast<std::uint32_t>(options.shards)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "state directory '", path, "' was written with ", record.shards(),
        record.shards() == 1 ? " shard" : " shards", ", and ", options.shards,
        options.shards == 1 ? " is" : " are", " asked for; start with ",
        record.shards(),
        ", or have its state dealt out anew: restore_from a savepoint or a "
        "checkpoint of it into a new state directory"));
  }
  return absl::OkStatus();
}

absl::Status Damaged(const std::string& path, std::string_view what) {
  return absl::DataLossError(
      absl::StrCat("state directory '", path, "' ", ToAbsl(what),
                   "; restore_from a checkpoint or a savepoint of the job "
                   "into a new directory, or start anew with a new directory "
                   "and another output"));
}

absl::Status ChangedMeanwhile(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("state directory '", path,
                   "' was changed by another process meanwhile; start again"));
}

std::string RecordPath(const std::string& path) {
  return absl::StrCat(path, "/", kJobRecordFile);
}

}  // namespace

absl::StatusOr<std::optional<v1::JobRecord>> JobDirectory::Look(
    const JobOptions& options) {
  const std::string& path = options.state_directory;
  if (path.empty()) return std::nullopt;
  v1::JobRecord record;
  const absl::Status read =
      state_internal::ReadRecordFile(RecordPath(path), record);
  std::error_code ignored;
  if (absl::IsNotFound(read)) {
    if (std::filesystem::exists(path + "/" + Numbered(kShardPrefix, 0),
                                ignored)) {
      return Damaged(path, "has shards and no JOB.mayfly");
    }
    return std::nullopt;
  }
  if (absl::IsDataLoss(read) || (read.ok() && record.format_version() == 0)) {
    return Damaged(path, "has a JOB.mayfly that cannot be read");
  }
  MAYFLY_RETURN_IF_ERROR(read);
  const bool is_restoring = !record.restoring_from().empty();
  const bool may_begin =
      record.beginning() || (is_restoring && !options.restore_from.empty());
  // What is begun once more may have other shards.
  if (may_begin) {
    record.set_shards(static_cast<std::uint32_t>(options.shards));
  }
  MAYFLY_RETURN_IF_ERROR(CheckRecord(record, path, options));
  if (may_begin) return std::nullopt;
  if (!is_restoring) return record;
  return absl::FailedPreconditionError(absl::StrCat(
      "state directory '", path, "' was being restored from '",
      record.restoring_from(),
      "' when the job was ended; start it with that as restore_from once more, "
      "or start anew with a new directory and another output"));
}

absl::Status JobDirectory::CheckShards(const JobOptions& options) {
  const std::string& path = options.state_directory;
  for (int shard = 0; shard < options.shards; ++shard) {
    const std::string name = Numbered(kShardPrefix, shard);
    std::error_code error;
    const bool is_empty =
        std::filesystem::is_empty(absl::StrCat(path, "/", name), error);
    if (error || is_empty) return Damaged(path, "has lost " + name);
  }
  return absl::OkStatus();
}

absl::StatusOr<JobDirectory> JobDirectory::Open(
    const JobOptions& options, const std::optional<JobBeginning>& beginning) {
  const std::string& path = options.state_directory;
  const bool sync = options.durability == Durability::kMachine;
  if (path.empty()) return JobDirectory("", sync, {});
  MAYFLY_RETURN_IF_ERROR(state_internal::MakeDirectory(path));
  auto lock = state_internal::DirectoryLock::Acquire(path);
  if (!lock.ok()) return Annotate(lock.status(), "state directory");
  MAYFLY_ASSIGN_OR_RETURN(std::optional<v1::JobRecord> record, Look(options));
  if (record.has_value() == beginning.has_value()) {
    return ChangedMeanwhile(path);
  }
  JobDirectory directory(path, sync, *std::move(lock));
  MAYFLY_RETURN_IF_ERROR(state_internal::RemoveAll(path + kCaptures));
  if (record) {
    directory.record_ = *std::move(record);
  } else {
    MAYFLY_RETURN_IF_ERROR(directory.Begin(options, *beginning));
  }
  return directory;
}

absl::Status JobDirectory::Begin(const JobOptions& options,
                                 const JobBeginning& beginning) {
  record_.set_format_version(kFormatVersion);
  record_.set_name(options.name);
  record_.set_shards(static_cast<std::uint32_t>(options.shards));
  record_.set_restoring_from(beginning.restoring_from);
  record_.set_beginning(beginning.restoring_from.empty());
  *record_.mutable_lineage() = beginning.lineage;
  record_.mutable_retired_output_bytes()->Assign(
      beginning.retired_output_bytes.begin(),
      beginning.retired_output_bytes.end());
  MAYFLY_RETURN_IF_ERROR(WriteRecord());
  return RemoveShards();
}

absl::Status JobDirectory::FinishBeginning() {
  record_.clear_restoring_from();
  record_.clear_beginning();
  return WriteRecord();
}

absl::Status JobDirectory::AbandonBeginning() {
  MAYFLY_RETURN_IF_ERROR(RemoveShards());
  return state_internal::RemoveAll(RecordPath(path_));
}

absl::Status JobDirectory::RemoveShards() const {
  std::error_code error;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::directory_iterator(path_, error)) {
    if (!entry.path().filename().string().starts_with(kShardPrefix)) continue;
    MAYFLY_RETURN_IF_ERROR(state_internal::RemoveAll(entry.path().string()));
  }
  return error ? state_internal::FileError(error.value(), "list", path_)
               : absl::OkStatus();
}

absl::Status JobDirectory::WriteRecord() const {
  return state_internal::WriteRecordFile(RecordPath(path_), record_, sync_);
}

std::string JobDirectory::ShardDirectory(int shard) const {
  return path_.empty() ? "" : path_ + "/" + Numbered(kShardPrefix, shard);
}

std::string JobDirectory::CaptureDirectory(std::uint64_t number) const {
  return absl::StrCat(path_, kCaptures, "/", number);
}

}  // namespace mayfly::runtime_internal
