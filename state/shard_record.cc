#include "state/shard_record.h"

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::state_internal {
namespace {

std::string RecordPath(const std::string& directory) {
  return directory + "/MANIFEST.mayfly";
}

absl::string_view BackendName(v1::BackendKind backend) {
  switch (backend) {
    case v1::BACKEND_KIND_HEAP:
      return "heap";
    case v1::BACKEND_KIND_ROCKSDB:
      return "rocksdb";
    default:
      return "unknown";
  }
}

}  // namespace

absl::StatusOr<bool> ReadShardRecord(const std::string& directory,
                                     v1::BackendKind backend,
                                     v1::ShardRecord& record) {
  const std::string path = RecordPath(directory);
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (absl::IsNotFound(bytes.status())) {
    record.set_format_version(kFormatVersion);
    record.set_backend(backend);
    return false;
  }
  if (!bytes.ok()) return bytes.status();
  // No bytes at all are a message too: one that says nothing.
  if (!record.ParseFromString(*bytes) || record.format_version() == 0 ||
      record.backend() == v1::BACKEND_KIND_UNSPECIFIED) {
    return absl::DataLossError(
        absl::StrCat("'", path,
                     "' does not decode; restore an earlier copy of the "
                     "directory, or remove it to start afresh"));
  }
  MAYFLY_RETURN_IF_ERROR(CheckShardRecord(record, backend, path));
  return true;
}

absl::Status CheckShardRecord(const v1::ShardRecord& record,
                              v1::BackendKind backend,
                              const std::string& source) {
  if (record.format_version() > kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", source, "' was written by a newer version of Mayfly (format ",
        record.format_version(), ", this one reads up to ", kFormatVersion,
        "); start with that version"));
  }
  if (record.backend() != backend) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", source, "' was written by the ", BackendName(record.backend()),
        " backend and is opened with the ", BackendName(backend),
        " one; start with the old backend, or with an empty state directory"));
  }
  return absl::OkStatus();
}

absl::Status WriteShardRecord(const std::string& directory,
                              const v1::ShardRecord& record, bool sync) {
  return WriteFileAtomically(RecordPath(directory), record.SerializeAsString(),
                             sync);
}

absl::Status MissingShardRecord(const std::string& directory) {
  return absl::DataLossError(absl::StrCat(
      "'", RecordPath(directory),
      "' is missing beside the state that it describes; restore it from a copy "
      "of the directory, or remove the directory to start afresh"));
}

}  // namespace mayfly::state_internal
