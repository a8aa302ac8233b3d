#include "state/rocksdb_backend.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/v1/state.pb.h"
#include "state/rocksdb_checkpoint.h"
#include "state/rocksdb_family.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_live_options.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"
#include "state/rocksdb_sweeper.h"
#include "state/shard_record.h"
#include "state/state_registry.h"

namespace mayfly::state_internal {
namespace {

class RocksdbBackend final : public BackendCore {
 public:
  RocksdbBackend(const BackendOptions& options, DirectoryLock lock)
      : BackendCore(options, std::move(lock)),
        resources_(std::static_pointer_cast<RocksdbResources>(
            options.storage != nullptr ? options.storage
                                       : StorageResources::Create({}))),
        rocksdb_options_(options.rocksdb) {
    shard_monitor().SetStored(sweeper_);
  }

  ~RocksdbBackend() override {
    sweeper_->Close();
    // A walk that was given up may still hold an iterator.
    states().clear();
    for (auto& [name, family] : families_) {
      if (db_ != nullptr) db_->DestroyColumnFamilyHandle(family.handle);
    }
    if (default_handle_ != nullptr) {
      db_->DestroyColumnFamilyHandle(default_handle_);
    }
  }

  absl::Status Recover() override {
    const bool has_database =
        std::filesystem::exists(DatabasePath() + "/CURRENT");
    MAYFLY_ASSIGN_OR_RETURN(
        const bool has_record,
        ReadShardRecord(options().directory, v1::BACKEND_KIND_ROCKSDB,
                        record()));
    if (!has_record && has_database) {
      return MissingShardRecord(options().directory);
    }
    if (!has_database && record().states_size() > 0) {
      // RocksDB would make a new one and delete what is left of the old.
      return absl::DataLossError(absl::StrCat(
          "'", DatabasePath(),
          "' is missing, or its file CURRENT is, although "
          "the directory holds states; restore an earlier copy of the "
          "directory, or remove it to start afresh"));
    }
    saved_record_ = record();
    if (!has_record) MAYFLY_RETURN_IF_ERROR(Write(saved_record_));
    MAYFLY_RETURN_IF_ERROR(OpenDatabase(has_database));
    MAYFLY_RETURN_IF_ERROR(ReadCommit());
    MAYFLY_RETURN_IF_ERROR(CheckFamilies());
    MAYFLY_RETURN_IF_ERROR(ForgetUncommitted());
    for (const auto& [name, family] : families_) AddToSweeper(name, family);
    return absl::OkStatus();
  }

  absl::StatusOr<ByteStore*> OpenStore(const StateSpec& spec,
                                       const v1::StateRecord& state) override {
    if (!families_.contains(spec.name)) {
      MAYFLY_RETURN_IF_ERROR(CreateFamily(state));
    }
    RocksdbFamily& family = families_[spec.name];
    MAYFLY_RETURN_IF_ERROR(ApplyCleanup(spec, state, *db_, family));
    family.store = std::make_unique<RocksdbStore>(db_.get(), family.handle);
    return family.store.get();
  }

  absl::Status Restore(StateTable&) override { return absl::OkStatus(); }

  // One quick batch: all of it at once.
  absl::Status BeginWrite(v1::CommitRecord& commit) override {
    // Before the batch: a changed TTL counts from this commit on.
    MAYFLY_RETURN_IF_ERROR(SaveRecord());
    for (const auto& [name, family] : families_) commit.add_states(name);
    rocksdb::WriteBatch batch;
    for (auto& [name, state] : states()) {
      BatchWriter writer(&batch, families_[name].handle);
      if (state.sweep != nullptr) state.sweep->WriteChanges(writer);
      MAYFLY_RETURN_IF_ERROR(state.table->WriteChanges(writer));
      MAYFLY_RETURN_IF_ERROR(FromRocksdb(
          writer.status(), absl::StrCat("cannot commit state '", name, "'")));
    }
    const rocksdb::Status status =
        batch.Put(default_handle_, kCommitKey, commit.SerializeAsString());
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(status, "cannot commit"));
    rocksdb::WriteOptions write_options;
    write_options.sync = options().durability == Durability::kMachine;
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(
        db_->Write(write_options, &batch),
        absl::StrCat("cannot commit to '", options().directory, "'")));
    for (const auto& [name, family] : families_) {
      // Cannot fail: the rule was checked when the state was registered.
      if (family.rule_to_be)
        family.ttl->SetRule(*family.rule_to_be).IgnoreError();
    }
    NoteCommitted();
    return absl::OkStatus();
  }

  absl::StatusOr<std::uint64_t> VisitStored(
      const StateTable& table, std::uint64_t visits_max,
      const EntryVisitor& visit) override {
    const RocksdbFamily& family = families_[table.context().state_name];
    const auto scan = family.store->ScanPrefix("");
    std::uint64_t visited = 0;
    for (; scan->Valid() && visited < visits_max; scan->Next()) {
      visit(scan->key(), scan->value());
      ++visited;
    }
    MAYFLY_RETURN_IF_ERROR(scan->status());
    if (!scan->Valid()) return visited;
    std::uint64_t estimate = 0;
    db_->GetIntProperty(family.handle,
                        rocksdb::DB::Properties::kEstimateNumKeys, &estimate);
    return std::max(estimate, visited + 1);
  }

  absl::Status SetRocksdbOptions(const RocksdbOptions& wanted) override {
    MAYFLY_RETURN_IF_ERROR(Validate(wanted));
    // First whether all can be done: a change is not to stop half-way.
    for (const auto& [name, family] : families_) {
      MAYFLY_RETURN_IF_ERROR(
          CheckChangeable(name, ReadStateOptions(*db_, family.handle),
                          OptionsOf(name, wanted)));
    }
    for (const auto& [name, family] : families_) {
      MAYFLY_RETURN_IF_ERROR(ChangeStateOptions(*db_, family.handle, name,
                                                OptionsOf(name, wanted)));
    }
    MAYFLY_RETURN_IF_ERROR(ChangeDatabaseOptions(*db_, wanted));
    rocksdb_options_ = wanted;
    return absl::OkStatus();
  }

  absl::StatusOr<RocksdbOptions> LiveRocksdbOptions() const override {
    RocksdbOptions live = ReadDatabaseOptions(*db_);
    // Those of column families that are not open yet, too.
    live.all_states = rocksdb_options_.all_states;
    live.states = rocksdb_options_.states;
    for (const auto& [name, family] : families_) {
      live.states[name] = ReadStateOptions(*db_, family.handle);
    }
    return live;
  }

  std::shared_ptr<DiskSweeper> disk_sweeper() const override {
    return sweeper_;
  }

  absl::Status CompactStored() override {
    for (auto& [name, family] : families_) {
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction =
          rocksdb::BottommostLevelCompaction::kForce;
      MAYFLY_RETURN_IF_ERROR(FromRocksdb(
          db_->CompactRange(compact, family.handle, nullptr, nullptr),
          absl::StrCat("cannot compact state '", name, "'")));
    }
    return absl::OkStatus();
  }

  absl::Status CopyStored(const std::string& to) override {
    return CopyDatabase(*db_, state_internal::DatabasePath(to));
  }

  absl::StatusOr<std::map<std::string, std::uint32_t>> KnownChecksums()
      const override {
    MAYFLY_ASSIGN_OR_RETURN(const auto recorded, RecordedChecksums(*db_));
    std::map<std::string, std::uint32_t> known;
    for (const auto& [name, crc32c] : recorded) known["db/" + name] = crc32c;
    return known;
  }

 private:
  std::string DatabasePath() const {
    return state_internal::DatabasePath(options().directory);
  }

  absl::Status SaveRecord() override {
    if (record().SerializeAsString() == saved_record_.SerializeAsString()) {
      return absl::OkStatus();
    }
    MAYFLY_RETURN_IF_ERROR(Write(record()));
    saved_record_ = record();
    return absl::OkStatus();
  }

  absl::Status Write(const v1::ShardRecord& shard) const {
    return WriteShardRecord(options().directory, shard,
                            options().durability == Durability::kMachine);
  }

  // Makes the column family of a new state. It is recorded first, alone: one
  // that nobody knows of could not be opened, and whatever else is to change in
  // the record waits for the commit.
  absl::Status CreateFamily(const v1::StateRecord& state) {
    v1::ShardRecord with_state = saved_record_;
    const bool recorded =
        std::any_of(with_state.states().begin(), with_state.states().end(),
                    [&](const v1::StateRecord& other) {
                      return other.name() == state.name();
                    });
    if (!recorded) {
      *with_state.add_states() = state;
      MAYFLY_RETURN_IF_ERROR(Write(with_state));
      saved_record_ = std::move(with_state);
    }
    RocksdbFamily family;
    MAYFLY_ASSIGN_OR_RETURN(const rocksdb::ColumnFamilyOptions family_options,
                            FamilyOptions(state, family));
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(
        db_->CreateColumnFamily(family_options, state.name(), &family.handle),
        absl::StrCat("cannot create state '", state.name(), "'")));
    AddToSweeper(state.name(), family);
    families_[state.name()] = std::move(family);
    return absl::OkStatus();
  }

  // The last commit names the states it found here.
  absl::Status CheckFamilies() {
    for (const std::string& name : last_commit().states()) {
      if (families_.contains(name)) continue;
      return absl::DataLossError(absl::StrCat(
          "'", DatabasePath(), "' has lost state '", name,
          "', which the last commit found there; restore an earlier copy of "
          "the directory, or remove it to start afresh"));
    }
    return absl::OkStatus();
  }

  // States of a start that never committed hold nothing, and must not bind the
  // next one to what that one asked for.
  absl::Status ForgetUncommitted() {
    // A lost commit is for others to report, and not to be made worse.
    if (record().committed() && !has_commit()) return absl::OkStatus();
    const auto& committed = last_commit().states();
    const auto is_committed = [&](const std::string& name) {
      return std::find(committed.begin(), committed.end(), name) !=
             committed.end();
    };
    for (auto it = families_.begin(); it != families_.end();) {
      const auto at = it++;
      if (is_committed(at->first)) continue;
      MAYFLY_RETURN_IF_ERROR(
          FromRocksdb(db_->DropColumnFamily(at->second.handle),
                      absl::StrCat("cannot drop state '", at->first, "'")));
      db_->DestroyColumnFamilyHandle(at->second.handle);
      families_.erase(at);
    }
    auto* const states = record().mutable_states();
    for (int i = states->size() - 1; i >= 0; --i) {
      if (!is_committed(states->Get(i).name())) states->DeleteSubrange(i, 1);
    }
    if (states->size() == saved_record_.states_size()) return absl::OkStatus();
    saved_record_ = record();
    return Write(saved_record_);
  }

  // Opens the database with every recorded state, registered or not: its
  // entries go on expiring under the recorded TTL.
  absl::Status OpenDatabase(bool exists) {
    std::vector<std::string> names = {rocksdb::kDefaultColumnFamilyName};
    const rocksdb::DBOptions db_options =
        DatabaseOptions(*resources_, rocksdb_options_);
    if (exists) {
      names.clear();
      MAYFLY_RETURN_IF_ERROR(FromRocksdb(
          rocksdb::DB::ListColumnFamilies(db_options, DatabasePath(), &names),
          absl::StrCat("cannot open '", DatabasePath(), "'")));
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names) {
      MAYFLY_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyOptions family_options,
                              RecordedFamilyOptions(name));
      descriptors.emplace_back(name, std::move(family_options));
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    MAYFLY_RETURN_IF_ERROR(
        FromRocksdb(rocksdb::DB::Open(db_options, DatabasePath(), descriptors,
                                      &handles, &db),
                    absl::StrCat("cannot open '", DatabasePath(), "'")));
    db_.reset(db);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == rocksdb::kDefaultColumnFamilyName) {
        default_handle_ = handles[i];
        continue;
      }
      RocksdbFamily& family = families_[names[i]];
      family.handle = handles[i];
      MAYFLY_RETURN_IF_ERROR(VerifyCleanup(family, *db_));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<rocksdb::ColumnFamilyOptions> RecordedFamilyOptions(
      const std::string& name) {
    if (name == rocksdb::kDefaultColumnFamilyName) {
      return StateFamilyOptions(*resources_, /*is_map=*/false,
                                OptionsOf(name, rocksdb_options_));
    }
    for (const v1::StateRecord& state : record().states()) {
      if (state.name() == name) return FamilyOptions(state, families_[name]);
    }
    return absl::DataLossError(absl::StrCat(
        "'", DatabasePath(), "' holds state '", name,
        "', of which the directory's record knows nothing; restore an earlier "
        "copy of the directory"));
  }

  // Options of a column family that is about to be opened or created.
  absl::StatusOr<rocksdb::ColumnFamilyOptions> FamilyOptions(
      const v1::StateRecord& state, RocksdbFamily& family) {
    rocksdb::ColumnFamilyOptions family_options =
        StateFamilyOptions(*resources_, state.kind() == v1::STATE_KIND_MAP,
                           OptionsOf(state.name(), rocksdb_options_));
    const auto purge_clock_of_state = purge_clock(
        state.ttl().time_characteristic() == v1::TIME_CHARACTERISTIC_EVENT
            ? TimeCharacteristic::kEventTime
            : TimeCharacteristic::kProcessingTime);
    MAYFLY_RETURN_IF_ERROR(
        ConfigureCleanup(state, purge_clock_of_state, family, family_options));
    return family_options;
  }

  absl::Status ReadCommit() {
    std::string bytes;
    const rocksdb::Status status =
        db_->Get(rocksdb::ReadOptions(), default_handle_, kCommitKey, &bytes);
    if (status.IsNotFound()) return absl::OkStatus();
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(
        status, absl::StrCat("cannot read '", DatabasePath(), "'")));
    if (last_commit().ParseFromString(bytes)) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat("'", DatabasePath(),
                     "': the record of the last commit does not decode; "
                     "restore an earlier copy of the directory"));
  }

  // Has the state watched and swept, whether or not it is registered.
  void AddToSweeper(const std::string& name, const RocksdbFamily& family) {
    sweeper_->Add(name, db_.get(), family.handle, family.ttl);
  }

  const std::shared_ptr<RocksdbResources> resources_;
  // As asked for last; what is in force is with the database.
  RocksdbOptions rocksdb_options_;
  const std::shared_ptr<RocksdbSweeper> sweeper_ =
      std::make_shared<RocksdbSweeper>();
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_handle_ = nullptr;
  // What MANIFEST.mayfly holds.
  v1::ShardRecord saved_record_;
  std::map<std::string, RocksdbFamily> families_;
};

}  // namespace

std::unique_ptr<BackendCore> MakeRocksdbBackend(const BackendOptions& options,
                                                DirectoryLock lock) {
  return std::make_unique<RocksdbBackend>(options, std::move(lock));
}

}  // namespace mayfly::state_internal
