// A shard at rest on RocksDB.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/state/internal/shard_clock.h"
#include "rocksdb/db.h"
#include "state/rocksdb_checkpoint.h"
#include "state/rocksdb_family.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"
#include "state/shard_record.h"
#include "state/stored_shard.h"

namespace mayfly::state_internal {
namespace {

class StoredDatabase final : public StoredShard {
 public:
  explicit StoredDatabase(const std::string& path) : StoredShard(path) {}

  ~StoredDatabase() override {
    for (auto& [name, handle] : handles_)
      db_->DestroyColumnFamilyHandle(handle);
  }

  absl::Status Open() {
    v1::ShardRecord all;
    MAYFLY_RETURN_IF_ERROR(ReadRecordFile(ShardRecordPath(path()), all));
    MAYFLY_RETURN_IF_ERROR(OpenDatabase(all));
    MAYFLY_RETURN_IF_ERROR(ReadCommit());
    // Lists are put together by the time of the commit.
    processing_clock_->Set(commit_.processing_clock_ms());
    event_clock_->Set(commit_.event_clock_ms());
    record_ = all;
    record_.clear_states();
    for (const v1::StateRecord& state : all.states()) {
      const std::string name = ColumnFamilyOf(state);
      if (std::ranges::count(commit_.states(), name) == 0) continue;
      if (!handles_.contains(name)) {
        return Damaged(absl::StrCat("state '", state.name(), "' is missing"));
      }
      v1::StateRecord& ours = *record_.add_states();
      ours = state;
      // Nobody else is to put it where it is here.
      ours.clear_column_family();
      state_handles_.push_back(handles_.at(name));
    }
    return absl::OkStatus();
  }

  std::uint64_t Keys(std::uint32_t state) const override {
    std::uint64_t keys = 0;
    db_->GetIntProperty(HandleOf(state),
                        rocksdb::DB::Properties::kEstimateNumKeys, &keys);
    return keys;
  }
  bool keys_are_exact() const override { return false; }

  absl::Status Visit(std::uint32_t state, const Visitor& visit) const override {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.total_order_seek = true;
    options.readahead_size = std::size_t{2} << 20;
    const std::unique_ptr<rocksdb::Iterator> entries(
        db_->NewIterator(options, HandleOf(state)));
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      MAYFLY_RETURN_IF_ERROR(
          visit(FromSlice(entries->key()), FromSlice(entries->value())));
    }
    return Check(entries->status());
  }

  // RocksDB's own way aborts the process if the database is open for reading
  // only; reading all entries checks the blocks besides.
  absl::Status Verify() const override {
    MAYFLY_ASSIGN_OR_RETURN(const auto recorded, RecordedChecksums(*db_));
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
  rocksdb::ColumnFamilyHandle* HandleOf(std::uint32_t state) const {
    return state_handles_.at(state);
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

  absl::Status OpenDatabase(const v1::ShardRecord& all) {
    // A reader needs little.
    const auto resources = std::static_pointer_cast<RocksdbResources>(
        StorageResources::Create({.memory_bytes = std::size_t{64} << 20}));
    rocksdb::DBOptions options = DatabaseOptions(*resources);
    options.create_if_missing = false;
    std::vector<std::string> names;
    MAYFLY_RETURN_IF_ERROR(Check(rocksdb::DB::ListColumnFamilies(
        options, DatabasePath(path()), &names)));
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names) {
      v1::StateRecord state;
      for (const v1::StateRecord& known : all.states()) {
        if (ColumnFamilyOf(known) == name) state = known;
      }
      if (state.name().empty() && name != rocksdb::kDefaultColumnFamilyName) {
        return Damaged(
            absl::StrCat("its record does not know state '", name, "'"));
      }
      rocksdb::ColumnFamilyOptions family_options =
          StateFamilyOptions(*resources, state.kind() == v1::STATE_KIND_MAP);
      const bool event_time =
          state.ttl().time_characteristic() == v1::TIME_CHARACTERISTIC_EVENT;
      MAYFLY_RETURN_IF_ERROR(
          ConfigureCleanup(state, event_time ? event_clock_ : processing_clock_,
                           families_[name], family_options));
      descriptors.emplace_back(name, std::move(family_options));
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    MAYFLY_RETURN_IF_ERROR(Check(rocksdb::DB::OpenForReadOnly(
        options, DatabasePath(path()), descriptors, &handles, &db)));
    db_.reset(db);
    for (std::size_t i = 0; i < names.size(); ++i) {
      handles_[names[i]] = handles[i];
    }
    return absl::OkStatus();
  }

  absl::Status ReadCommit() {
    std::string bytes;
    const rocksdb::Status status = db_->Get(
        rocksdb::ReadOptions(), handles_.at(rocksdb::kDefaultColumnFamilyName),
        kCommitKey, &bytes);
    if (status.IsNotFound()) return absl::OkStatus();
    MAYFLY_RETURN_IF_ERROR(Check(status));
    if (commit_.ParseFromString(bytes)) return absl::OkStatus();
    return Damaged("the record of the last commit does not decode");
  }

  const std::shared_ptr<CommittedClock> processing_clock_ =
      std::make_shared<CommittedClock>();
  const std::shared_ptr<CommittedClock> event_clock_ =
      std::make_shared<CommittedClock>();
  // How the open column families clean up; they keep hold of it.
  std::map<std::string, RocksdbFamily> families_;
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> handles_;
  // Those of the record's states, in its order.
  std::vector<rocksdb::ColumnFamilyHandle*> state_handles_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoredShard>> OpenStoredDatabase(
    const std::string& path) {
  auto shard = std::make_unique<StoredDatabase>(path);
  MAYFLY_RETURN_IF_ERROR(shard->Open());
  return shard;
}

}  // namespace mayfly::state_internal
