#include "runtime/job_directory.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/output_file.h"

namespace mayfly::runtime_internal {
namespace {

constexpr char kRecordFile[] = "/JOB.mayfly";

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
        " are asked for; start with ", record.shards(),
        ", or give a new directory to start anew"));
  }
  return absl::OkStatus();
}

absl::Status Damaged(const std::string& path, const char* what) {
  return absl::DataLossError(
      absl::StrCat("state directory '", path, "' ", what,
                   "; give a new directory to start anew"));
}

absl::Status WriteRecord(const std::string& path, const JobOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(path + "/" + Numbered("shard-", 0), ignored)) {
    return Damaged(path, "has shards and no JOB.mayfly");
  }
  v1::JobRecord record;
  record.set_format_version(kFormatVersion);
  record.set_name(options.name);
  record.set_shards(static_cast<std::uint32_t>(options.shards));
  return state_internal::WriteRecordFile(
      path + kRecordFile, record, options.durability == Durability::kMachine);
}

}  // namespace

absl::StatusOr<JobDirectory> JobDirectory::Open(const JobOptions& options) {
  const std::string& path = options.state_directory;
  if (path.empty()) return JobDirectory("", {});
  MAYFLY_RETURN_IF_ERROR(state_internal::MakeDirectory(path));
  MAYFLY_ASSIGN_OR_RETURN(auto lock,
                          state_internal::DirectoryLock::Acquire(path));
  v1::JobRecord record;
  const absl::Status read =
      state_internal::ReadRecordFile(path + kRecordFile, record);
  if (absl::IsNotFound(read)) {
    MAYFLY_RETURN_IF_ERROR(WriteRecord(path, options));
    return JobDirectory(path, std::move(lock));
  }
  if (absl::IsDataLoss(read) || (read.ok() && record.format_version() == 0)) {
    return Damaged(path, "has a JOB.mayfly that cannot be read");
  }
  MAYFLY_RETURN_IF_ERROR(read);
  MAYFLY_RETURN_IF_ERROR(CheckRecord(record, path, options));
  return JobDirectory(path, std::move(lock));
}

std::string JobDirectory::ShardDirectory(int shard) const {
  return path_.empty() ? "" : path_ + "/" + Numbered("shard-", shard);
}

}  // namespace mayfly::runtime_internal
