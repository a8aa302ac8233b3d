#include "state/shard_loader.h"

#include <utility>

#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "state/shard_record.h"
#include "state/snapshot_file.h"

namespace mayfly::state_internal {
namespace {

class HeapLoader final : public ShardLoader {
 public:
  HeapLoader(const BackendOptions& options, v1::ShardRecord record,
             SnapshotWriter writer)
      : directory_(options.directory),
        sync_(options.durability == Durability::kMachine),
        record_(std::move(record)),
        writer_(std::move(writer)) {}

  absl::Status Add(std::uint32_t state, std::string_view key,
                   std::string_view value) override {
    writer_.Add(state, key, value);
    return writer_.status();
  }

  absl::Status Finish(const v1::CommitRecord& commit) override {
    writer_.Seal(commit, sync_);
    MAYFLY_RETURN_IF_ERROR(writer_.Finish());
    // The states are in the snapshot.
    record_.clear_states();
    return WriteShardRecord(directory_, record_, sync_);
  }

 private:
  const std::string directory_;
  const bool sync_;
  v1::ShardRecord record_;
  SnapshotWriter writer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ShardLoader>> ShardLoader::Create(
    const BackendOptions& options, const v1::ShardRecord& record) {
  MAYFLY_RETURN_IF_ERROR(MakeDirectory(options.directory));
  v1::ShardRecord ours = record;
  ours.set_format_version(kFormatVersion);
  ours.set_committed(true);
  for (v1::StateRecord& state : *ours.mutable_states()) {
    state.clear_column_family();
  }
  if (options.kind == BackendKind::kRocksdb) {
    ours.set_backend(v1::BACKEND_KIND_ROCKSDB);
    return MakeRocksdbLoader(options, std::move(ours));
  }
  ours.set_backend(v1::BACKEND_KIND_HEAP);
  MAYFLY_ASSIGN_OR_RETURN(
      SnapshotWriter writer,
      SnapshotWriter::Create(options.directory + "/snapshot", ours));
  return std::make_unique<HeapLoader>(options, std::move(ours),
                                      std::move(writer));
}

}  // namespace mayfly::state_internal
