#include "state/rocksdb_backend.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/v1/state.pb.h"
#include "state/entry_migration.h"
#include "state/rocksdb_checkpoint.h"
#include "state/rocksdb_family.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_live_options.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_rewrite.h"
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
    for (auto* const families : {&families_, &unused_}) {
      for (auto& [name, family] : *families) {
        if (db_ != nullptr) db_->DestroyColumnFamilyHandle(family.handle);
      }
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
    if (has_record) {
      saved_record_ = record();
    } else {
      MAYFLY_RETURN_IF_ERROR(Save(record(), sync()));
    }
    MAYFLY_RETURN_IF_ERROR(OpenDatabase(has_database));
    MAYFLY_RETURN_IF_ERROR(ReadCommit());
    // A lost commit is for others to report, and not to be made worse.
    if (record().committed() && !has_commit()) return absl::OkStatus();
    MAYFLY_RETURN_IF_ERROR(TakeCommitted());
    MAYFLY_RETURN_IF_ERROR(DropUnused());
    MAYFLY_RETURN_IF_ERROR(SaveRecord());
    MAYFLY_RETURN_IF_ERROR(RemoveAll(RewritePath(options().directory)));
    for (const auto& [name, family] : families_) AddToSweeper(name, family);
    return absl::OkStatus();
  }

  absl::StatusOr<ByteStore*> OpenStore(const StateSpec& spec,
                                       v1::StateRecord& state,
                                       EntryMigration* migration) override {
    if (migration != nullptr) {
      MAYFLY_RETURN_IF_ERROR(Rewrite(state, *migration));
    } else if (!families_.contains(spec.name)) {
      MAYFLY_RETURN_IF_ERROR(CreateFamily(state));
    }
    const auto made = unused_.find(ColumnFamilyOf(state));
    const bool is_new = made != unused_.end();
    MAYFLY_RETURN_IF_ERROR(ApplyCleanup(
        spec, state, *db_, is_new ? made->second : families_.at(spec.name)));
    // Only now that nothing can fail: what was rewritten must not be again.
    if (is_new) Use(state);
    RocksdbFamily& family = families_.at(spec.name);
    family.store = std::make_unique<RocksdbStore>(db_.get(), family.handle);
    return family.store.get();
  }

  absl::Status Restore(StateTable&, EntryMigration*) override {
    return absl::OkStatus();
  }

  // One quick batch: all of it at once.
  absl::Status BeginWrite(v1::CommitRecord& commit) override {
    // Before the batch: a changed TTL counts from this commit on.
    MAYFLY_RETURN_IF_ERROR(SaveRecord());
    for (const auto& [name, family] : families_) {
      commit.add_states(family.handle->GetName());
    }
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
    // What is dropped afterwards is gone even if the machine crashes.
    write_options.sync =
        options().durability == Durability::kMachine || !unused_.empty();
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(
        db_->Write(write_options, &batch),
        absl::StrCat("cannot commit to '", options().directory, "'")));
    for (const auto& [name, family] : families_) {
      // Cannot fail: the rule was checked when the state was registered.
      if (family.rule_to_be)
        family.ttl->SetRule(*family.rule_to_be).IgnoreError();
    }
    // What is committed stays so if that fails; the next commit tries again.
    if (!unused_.empty() && DropUnused().ok()) SaveRecord().IgnoreError();
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

  // What is on disk still knows the column families that wait to be dropped:
  // without that the database could not be opened.
  absl::Status SaveRecord() override {
    v1::ShardRecord wanted = record();
    for (const v1::StateRecord& state : saved_record_.states()) {
      if (unused_.contains(ColumnFamilyOf(state))) *wanted.add_states() = state;
    }
    return Save(wanted, sync());
  }

  absl::Status Save(const v1::ShardRecord& wanted, bool sync) {
    if (wanted.SerializeAsString() == saved_record_.SerializeAsString()) {
      return absl::OkStatus();
    }
    MAYFLY_RETURN_IF_ERROR(WriteShardRecord(options().directory, wanted, sync));
    saved_record_ = wanted;
    return absl::OkStatus();
  }

  bool sync() const { return options().durability == Durability::kMachine; }

  // Makes the column family of a state, not used yet. It is recorded first,
  // alone: one that nobody knows of could not be opened, and whatever else is
  // to change in the record waits for the commit.
  absl::Status CreateFamily(const v1::StateRecord& state) {
    const std::string name = ColumnFamilyOf(state);
    // A registration that failed has left it.
    if (unused_.contains(name)) MAYFLY_RETURN_IF_ERROR(Drop(name));
    v1::ShardRecord with_state = saved_record_;
    const bool recorded =
        std::any_of(with_state.states().begin(), with_state.states().end(),
                    [&](const v1::StateRecord& other) {
                      return ColumnFamilyOf(other) == name;
                    });
    if (!recorded) *with_state.add_states() = state;
    // RocksDB waits for the disk, too.
    MAYFLY_RETURN_IF_ERROR(
        Save(with_state, sync() || !state.column_family().empty()));
    RocksdbFamily family;
    MAYFLY_ASSIGN_OR_RETURN(const rocksdb::ColumnFamilyOptions family_options,
                            FamilyOptions(state, family));
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(
        db_->CreateColumnFamily(family_options, name, &family.handle),
        absl::StrCat("cannot create state '", state.name(), "'")));
    unused_[name] = std::move(family);
    return absl::OkStatus();
  }

  // Has the state live in the column family that its record names; the one that
  // it lived in waits for the commit that makes it useless.
  void Use(const v1::StateRecord& state) {
    auto used = unused_.extract(ColumnFamilyOf(state));
    AddToSweeper(state.name(), used.mapped());
    if (auto old = families_.extract(state.name())) {
      unused_[old.mapped().handle->GetName()] = std::move(old.mapped());
    }
    families_[state.name()] = std::move(used.mapped());
  }

  // Rewrites a state into a column family beside its own. A crash, or an error,
  // leaves what no commit names.
  absl::Status Rewrite(v1::StateRecord& state, EntryMigration& migration) {
    const RocksdbFamily& old = families_[state.name()];
    state.set_column_family(NextName(state.name(), old.handle->GetName()));
    RocksdbFamily ignored;
    MAYFLY_ASSIGN_OR_RETURN(const rocksdb::ColumnFamilyOptions family_options,
                            FamilyOptions(state, ignored));
    const std::string directory = RewritePath(options().directory);
    MAYFLY_RETURN_IF_ERROR(RemoveAll(directory));
    MAYFLY_RETURN_IF_ERROR(MakeDirectory(directory));
    const absl::Cleanup remove_directory = [&] {
      RemoveAll(directory).IgnoreError();
    };
    MAYFLY_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                            RewriteIntoFiles(*db_, old.handle, family_options,
                                             directory, migration));
    MAYFLY_RETURN_IF_ERROR(CreateFamily(state));
    if (!files.empty()) {
      rocksdb::IngestExternalFileOptions ingest;
      ingest.move_files = true;
      MAYFLY_RETURN_IF_ERROR(FromRocksdb(
          db_->IngestExternalFile(unused_[state.column_family()].handle, files,
                                  ingest),
          absl::StrCat("cannot rewrite state '", state.name(), "'")));
    }
    return absl::OkStatus();
  }

  // "name~2" after "name", and so on.
  std::string NextName(const std::string& state,
                       const std::string& column_family) const {
    int generation = 1;
    if (column_family != state) {
      static_cast<void>(absl::SimpleAtoi(column_family.substr(state.size() + 1),
                                         &generation));
    }
    std::string next;
    do {
      next = absl::StrCat(state, "~", ++generation);
    } while (unused_.contains(next));
    return next;
  }

  // The states that the last commit found here.
  absl::Status TakeCommitted() {
    v1::ShardRecord& shard = record();
    shard.clear_states();
    for (const v1::StateRecord& state : saved_record_.states()) {
      const std::string name = ColumnFamilyOf(state);
      const auto& committed = last_commit().states();
      if (std::ranges::count(committed, name) == 0) continue;
      *shard.add_states() = state;
      auto found = unused_.extract(name);
      if (found) families_[state.name()] = std::move(found.mapped());
    }
    for (const std::string& name : last_commit().states()) {
      const bool found = std::ranges::any_of(families_, [&](const auto& at) {
        return at.second.handle->GetName() == name;
      });
      if (found) continue;
      return absl::DataLossError(absl::StrCat(
          "'", DatabasePath(), "' has lost state '", name,
          "', which the last commit found there; restore an earlier copy of "
          "the directory, or remove it to start afresh"));
    }
    return absl::OkStatus();
  }

  // What a start that never committed has left holds nothing, and must not bind
  // the next one to what that one asked for; and what was rewritten is of no
  // use in its old form.
  absl::Status DropUnused() {
    while (!unused_.empty()) {
      MAYFLY_RETURN_IF_ERROR(Drop(unused_.begin()->first));
    }
    return absl::OkStatus();
  }

  absl::Status Drop(const std::string& unused) {
    const auto at = unused_.find(unused);
    MAYFLY_RETURN_IF_ERROR(
        FromRocksdb(db_->DropColumnFamily(at->second.handle),
                    absl::StrCat("cannot drop state '", at->first, "'")));
    db_->DestroyColumnFamilyHandle(at->second.handle);
    unused_.erase(at);
    return absl::OkStatus();
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
      RocksdbFamily& family = unused_[names[i]];
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
      if (ColumnFamilyOf(state) == name) {
        return FamilyOptions(state, unused_[name]);
      }
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
  // By state.
  std::map<std::string, RocksdbFamily> families_;
  // Those that no state lives in, or not yet, by their own name.
  std::map<std::string, RocksdbFamily> unused_;
};

}  // namespace

std::unique_ptr<BackendCore> MakeRocksdbBackend(const BackendOptions& options,
                                                DirectoryLock lock) {
  return std::make_unique<RocksdbBackend>(options, std::move(lock));
}

}  // namespace mayfly::state_internal
