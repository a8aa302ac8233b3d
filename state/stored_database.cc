// A shard at rest on RocksDB.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/state/internal/shard_clock.h"
#include "state/rocksdb_checkpoint.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"
#include "state/shard_record.h"
#include "state/state_database.h"
#include "state/stored_shard.h"

namespace mayfly::state_internal {
namespace {

class StoredDatabase final : public StoredShard {
 public:
  explicit StoredDatabase(const std::string& path) : StoredShard(path) {}

  absl::Status Open() {
    v1::ShardRecord all;
    MAYFLY_RETURN_IF_ERROR(ReadRecordFile(ShardRecordPath(path()), all));
    const auto processing = std::make_shared<CommittedClock>();
    const auto event = std::make_shared<CommittedClock>();
    MAYFLY_ASSIGN_OR_RETURN(
        database_, StateDatabase::Open(
                       {.shard_directory = path(),
                        // A reader needs little.
                        .resources = std::make_shared<RocksdbResources>(
                            StorageResources::Options{
                                .memory_bytes = std::size_t{64} << 20}),
                        .clocks = {.processing = processing, .event = event}},
                       all, StateDatabase::Access::kReadOnly));
    MAYFLY_ASSIGN_OR_RETURN(commit_, database_->ReadCommit());
    // Lists are put together by the time of the commit.
    processing->Set(commit_.processing_clock_ms());
    event->Set(commit_.event_clock_ms());
    return TakeCommitted(all);
  }

  std::uint64_t Keys(std::uint32_t state) const override {
    std::uint64_t keys = 0;
    db().GetIntProperty(HandleOf(state),
                        rocksdb::DB::Properties::kEstimateNumKeys, &keys);
    return keys;
  }
  bool keys_are_exact() const override { return false; }

  absl::Status Visit(std::uint32_t state, const Visitor& visit) const override {
    const std::unique_ptr<rocksdb::Iterator> entries(
        db().NewIterator(FullScan(), HandleOf(state)));
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      MAYFLY_RETURN_IF_ERROR(
          visit(FromSlice(entries->key()), FromSlice(entries->value())));
    }
    return Check(entries->status());
  }

  // RocksDB's own way aborts the process if the database is open for reading
  // only; reading all entries checks the blocks besides.
  absl::Status Verify() const override {
    MAYFLY_ASSIGN_OR_RETURN(const auto recorded, RecordedChecksums(db()));
    for (const auto& [name, crc32c] : recorded) {
      const std::string file = DatabasePath(path()) + "/" + name;
      MAYFLY_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(file));
      if (digest.crc32c != crc32c) {
        return Damaged(absl::StrCat("the checksum of ", name, " is wrong"));
      }
    }
    const auto take = [](std::string_view, std::string_view) {
      return absl::OkStatus();
    };
    for (int i = 0; i < record_.states_size(); ++i) {
      MAYFLY_RETURN_IF_ERROR(Visit(static_cast<std::uint32_t>(i), take));
    }
    return absl::OkStatus();
  }

 private:
  rocksdb::DB& db() const { return database_->db(); }
  rocksdb::ColumnFamilyHandle* HandleOf(std::uint32_t state) const {
    return handles_.at(state);
  }

  absl::Status TakeCommitted(const v1::ShardRecord& all) {
    record_ = all;
    record_.clear_states();
    for (const v1::StateRecord& state : all.states()) {
      const std::string name = ColumnFamilyOf(state);
      if (std::ranges::count(commit_.states(), name) == 0) continue;
      const auto family = database_->families().find(name);
      if (family == database_->families().end()) {
        return Damaged(absl::StrCat("state '", state.name(), "' is missing"));
      }
      handles_.push_back(family->second.handle);
      v1::StateRecord& ours = *record_.add_states();
      ours = state;
      // Nobody else is to put it where it is here.
      ours.clear_column_family();
    }
    return absl::OkStatus();
  }

  absl::Status Check(const rocksdb::Status& status) const {
    return FromRocksdb(
        status, absl::StrCat("cannot read '", DatabasePath(path()), "'"));
  }

  absl::Status Damaged(absl::string_view why) const {
    return absl::DataLossError(absl::StrCat("'", DatabasePath(path()),
                                            "' is damaged: ", why,
                                            "; use an earlier copy of it"));
  }

  std::unique_ptr<StateDatabase> database_;
  // Of each state in the record.
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoredShard>> OpenStoredDatabase(
    const std::string& path) {
  auto shard = std::make_unique<StoredDatabase>(path);
  MAYFLY_RETURN_IF_ERROR(shard->Open());
  return shard;
}

}  // namespace mayfly::state_internal
