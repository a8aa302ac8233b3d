#include "state/stored_shard.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/internal/record_file.h"
#include "state/shard_record.h"
#include "state/snapshot_block.h"
#include "state/snapshot_file.h"

namespace mayfly::state_internal {
namespace {

namespace fs = std::filesystem;

class StoredSnapshot final : public StoredShard {
 public:
  StoredSnapshot(const std::string& path, SnapshotReader reader)
      : StoredShard(path), reader_(std::move(reader)) {
    record_ = reader_.record();
    commit_ = reader_.commit();
  }

  std::uint64_t Keys(std::uint32_t state) const override {
    return reader_.footer().states(static_cast<int>(state)).entries();
  }
  bool keys_are_exact() const override { return true; }

  absl::Status Visit(std::uint32_t state, const Visitor& visit) const override {
    const int blocks =
        reader_.footer().states(static_cast<int>(state)).blocks_size();
    absl::Status visited;
    for (int block = 0; block < blocks; ++block) {
      MAYFLY_RETURN_IF_ERROR(reader_.VisitBlock(
          state, block, [&](std::string_view key, std::string_view value) {
            if (visited.ok()) visited = visit(key, value);
          }));
      MAYFLY_RETURN_IF_ERROR(visited);
    }
    return visited;
  }

  absl::Status Verify() const override { return reader_.Verify(); }

 private:
  const SnapshotReader reader_;
};

absl::Status NothingCommitted(const std::string& path) {
  return absl::FailedPreconditionError(absl::StrCat(
      "'", path, "' has never been committed to; there is nothing in it"));
}

absl::StatusOr<std::unique_ptr<StoredShard>> OpenSavepoint(
    const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const bool is_one, BeginsLikeSnapshot(path));
  if (is_one) return OpenStoredSnapshot(path, path);
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path,
      "' is no savepoint: it does not begin like one; give the file of a "
      "savepoint, or a shard's directory"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoredShard>> OpenStoredSnapshot(
    const std::string& path, const std::string& file) {
  MAYFLY_ASSIGN_OR_RETURN(SnapshotReader reader, SnapshotReader::Open(file));
  MAYFLY_RETURN_IF_ERROR(CheckFormatVersion(reader.record(), file));
  return std::make_unique<StoredSnapshot>(path, std::move(reader));
}

absl::StatusOr<std::unique_ptr<StoredShard>> StoredShard::Open(
    const std::string& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (!fs::exists(found)) return FileError(ENOENT, "open", path);
  if (!fs::is_directory(found)) return OpenSavepoint(path);

  v1::ShardRecord record;
  const absl::Status read = ReadRecordFile(ShardRecordPath(path), record);
  if (absl::IsNotFound(read)) {
    return absl::NotFoundError(absl::StrCat(
        "'", path, "' is no shard's directory: it has no MANIFEST.mayfly"));
  }
  MAYFLY_RETURN_IF_ERROR(read);
  MAYFLY_RETURN_IF_ERROR(CheckFormatVersion(record, ShardRecordPath(path)));
  const bool on_heap = record.backend() == v1::BACKEND_KIND_HEAP;
  auto shard = on_heap ? OpenStoredSnapshot(path, path + "/snapshot")
                       : OpenStoredDatabase(path);
  if (shard.ok() && (*shard)->commit().sequence() > 0) return shard;
  if (!shard.ok() && !absl::IsNotFound(shard.status())) return shard.status();
  if (!record.committed()) return NothingCommitted(path);
  return absl::DataLossError(
      absl::StrCat("'", path,
                   "' has been committed to, and no commit is left in it; "
                   "use an earlier copy of it"));
}

}  // namespace mayfly::state_internal
