#include "state/shard_record.h"

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/record_file.h"

namespace mayfly::state_internal {
std::string_view BackendName(v1::BackendKind backend) {
  switch (backend) {
    case v1::BACKEND_KIND_HEAP:
      return "heap";
    case v1::BACKEND_KIND_ROCKSDB:
      return "rocksdb";
    default:
      return "unknown";
  }
}

std::string ShardRecordPath(const std::string& directory) {
  return directory + "/MANIFEST.mayfly";
}

absl::StatusOr<bool> ReadShardRecord(const std::string& directory,
                                     v1::BackendKind backend,
                                     v1::ShardRecord& record) {
  const std::string path = ShardRecordPath(directory);
  const absl::Status read = ReadRecordFile(path, record);
  if (absl::IsNotFound(read)) {
    record.set_format_version(kFormatVersion);
    record.set_backend(backend);
    return false;
  }
  if (absl::IsDataLoss(read) || (read.ok() && record.format_version() == 0)) {
    return absl::DataLossError(absl::StrCat(
        read.ok() ? absl::StrCat("'", path, "' says nothing") : read.message(),
        "; restore an earlier copy of the directory, or remove it to start "
        "afresh"));
  }
  MAYFLY_RETURN_IF_ERROR(read);
  MAYFLY_RETURN_IF_ERROR(CheckShardRecord(record, backend, path));
  return true;
}

absl::Status CheckFormatVersion(const v1::ShardRecord& record,
                                const std::string& source) {
  if (record.format_version() <= kFormatVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "'", source, "' was written by a newer version of Mayfly (format ",
      record.format_version(), ", this one reads up to ", kFormatVersion,
      "); start with that version"));
}

absl::Status CheckShardRecord(const v1::ShardRecord& record,
                              v1::BackendKind backend,
                              const std::string& source) {
  MAYFLY_RETURN_IF_ERROR(CheckFormatVersion(record, source));
  if (record.backend() != backend) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", source, "' was written by the ",
        ToAbsl(BackendName(record.backend())),
        " backend and is opened with the ", ToAbsl(BackendName(backend)),
        " one; start with the old backend, or restore a savepoint or a "
        "checkpoint "
        "of it into a new directory"));
  }
  return absl::OkStatus();
}

absl::Status WriteShardRecord(const std::string& directory,
                              const v1::ShardRecord& record, bool sync) {
  return WriteRecordFile(ShardRecordPath(directory), record, sync);
}

absl::Status MissingShardRecord(const std::string& directory) {
  return absl::DataLossError(absl::StrCat(
      "'", ShardRecordPath(directory),
      "' is missing beside the state that it describes; restore it from a copy "
      "of the directory, or remove the directory to start afresh"));
}

}  // namespace mayfly::state_internal
