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
#include "state/sorted_files.h"
#include "state/state_database.h"
#include "state/state_registry.h"

namespace mayfly::state_internal {
namespace {

class RocksdbBackend final : public BackendCore {
 public:
  RocksdbBackend(const BackendOptions& options, DirectoryLock lock)
      : BackendCore(options, std::move(lock)),
        resources_(ResourcesOf(options)) {
    shard_monitor().SetStored(sweeper_);
  }

  ~RocksdbBackend() override {
    sweeper_->Close();
    // A walk that was given up may still hold an iterator.
    states().clear();
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
    MAYFLY_ASSIGN_OR_RETURN(
        database_,
        StateDatabase::Open(
            {.shard_directory = options().directory,
             .resources = resources_,
             .options = options().rocksdb,
             .clocks = {.processing =
                            purge_clock(TimeCharacteristic::kProcessingTime),
                        .event = purge_clock(TimeCharacteristic::kEventTime)}},
            saved_record_, StateDatabase::Access::kWrite));
    MAYFLY_ASSIGN_OR_RETURN(last_commit(), database_->ReadCommit());
    // A lost commit is for others to report, and not to be made worse.
    if (record().committed() && !has_commit()) return absl::OkStatus();
    MAYFLY_RETURN_IF_ERROR(TakeCommitted());
    MAYFLY_RETURN_IF_ERROR(DropUnused());
    MAYFLY_RETURN_IF_ERROR(SaveRecord());
    MAYFLY_RETURN_IF_ERROR(RemoveAll(RewritePath(options().directory)));
    for (const auto& [state, column_family] : in_use_) AddToSweeper(state);
    return absl::OkStatus();
  }

  absl::StatusOr<ByteStore*> OpenStore(const StateSpec& spec,
                                       v1::StateRecord& state,
                                       EntryMigration* migration) override {
    if (migration != nullptr) {
      MAYFLY_RETURN_IF_ERROR(Rewrite(state, *migration));
    } else if (!in_use_.contains(spec.name)) {
      MAYFLY_RETURN_IF_ERROR(CreateFamily(state));
    }
    RocksdbFamily& family = database_->families().at(ColumnFamilyOf(state));
    MAYFLY_RETURN_IF_ERROR(ApplyCleanup(
        spec, state, OptionsOf(spec.name, database_->options()), db(), family));
    family.store = std::make_unique<RocksdbStore>(&db(), family.handle);
    // Only now that nothing can fail: what was rewritten must not be again.
    Use(state);
    return family.store.get();
  }

  absl::Status Restore(StateTable&, EntryMigration*) override {
    return absl::OkStatus();
  }

  // One quick batch: all of it at once.
  absl::Status BeginWrite(v1::CommitRecord& commit) override {
    // Before the batch: a changed TTL counts from this commit on.
    MAYFLY_RETURN_IF_ERROR(SaveRecord());
    for (const auto& [state, column_family] : in_use_) {
      commit.add_states(column_family);
    }
    rocksdb::WriteBatch batch;
    for (auto& [name, state] : states()) {
      BatchWriter writer(&batch, FamilyOf(name).handle);
      if (state.sweep != nullptr) state.sweep->WriteChanges(writer);
      MAYFLY_RETURN_IF_ERROR(state.table->WriteChanges(writer));
      MAYFLY_RETURN_IF_ERROR(FromRocksdb(
          writer.status(), absl::StrCat("cannot commit state '", name, "'")));
    }
    const rocksdb::Status status =
        batch.Put(kCommitKey, commit.SerializeAsString());
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(status, "cannot commit"));
    rocksdb::WriteOptions write_options;
    // What is dropped afterwards is gone even if the machine crashes.
    const bool drops = !Unused().empty();
    write_options.sync = sync() || drops;
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(
        db().Write(write_options, &batch),
        absl::StrCat("cannot commit to '", options().directory, "'")));
    for (const auto& [name, family] : database_->families()) {
      // Cannot fail: the rule was checked when the state was registered.
      if (family.rule_to_be)
        family.ttl->SetRule(*family.rule_to_be).IgnoreError();
    }
    // What is committed stays so if that fails; the next commit tries again.
    if (drops && DropUnused().ok()) SaveRecord().IgnoreError();
    NoteCommitted();
    return absl::OkStatus();
  }

  absl::StatusOr<std::uint64_t> VisitStored(
      const StateTable& table, std::uint64_t visits_max,
      const EntryVisitor& visit) override {
    const RocksdbFamily& family = FamilyOf(table.context().state_name);
    const auto scan = family.store->ScanPrefix("");
    std::uint64_t visited = 0;
    for (; scan->Valid() && visited < visits_max; scan->Next()) {
      visit(scan->key(), scan->value());
      ++visited;
    }
    MAYFLY_RETURN_IF_ERROR(scan->status());
    if (!scan->Valid()) return visited;
    std::uint64_t estimate = 0;
    db().GetIntProperty(family.handle,
                        rocksdb::DB::Properties::kEstimateNumKeys, &estimate);
    return std::max(estimate, visited + 1);
  }

  absl::Status SetRocksdbOptions(const RocksdbOptions& wanted) override {
    MAYFLY_RETURN_IF_ERROR(Validate(wanted));
    // First whether all can be done: a change is not to stop half-way.
    for (const auto& [name, column_family] : in_use_) {
      MAYFLY_RETURN_IF_ERROR(
          CheckChangeable(name, ReadStateOptions(db(), FamilyOf(name).handle),
                          OptionsOf(name, wanted)));
    }
    for (const auto& [name, column_family] : in_use_) {
      MAYFLY_RETURN_IF_ERROR(ChangeStateOptions(db(), FamilyOf(name), name,
                                                OptionsOf(name, wanted)));
    }
    MAYFLY_RETURN_IF_ERROR(ChangeDatabaseOptions(db(), wanted));
    database_->SetOptions(wanted);
    return absl::OkStatus();
  }

  absl::StatusOr<RocksdbOptions> LiveRocksdbOptions() const override {
    RocksdbOptions live = ReadDatabaseOptions(db());
    // Those of column families that are not open yet, too.
    live.all_states = database_->options().all_states;
    live.states = database_->options().states;
    for (const auto& [name, column_family] : in_use_) {
      live.states[name] = ReadStateOptions(db(), FamilyOf(name).handle);
    }
    return live;
  }

  std::shared_ptr<DiskSweeper> disk_sweeper() const override {
    return sweeper_;
  }

  absl::Status CompactStored() override {
    for (const auto& [name, column_family] : in_use_) {
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction =
          rocksdb::BottommostLevelCompaction::kForce;
      MAYFLY_RETURN_IF_ERROR(FromRocksdb(
          db().CompactRange(compact, FamilyOf(name).handle, nullptr, nullptr),
          absl::StrCat("cannot compact state '", name, "'")));
    }
    return absl::OkStatus();
  }

  absl::Status CopyStored(const std::string& to) override {
    return CopyDatabase(db(), state_internal::DatabasePath(to));
  }

  absl::StatusOr<std::map<std::string, std::uint32_t>> KnownChecksums()
      const override {
    MAYFLY_ASSIGN_OR_RETURN(const auto recorded, RecordedChecksums(db()));
    std::map<std::string, std::uint32_t> known;
    for (const auto& [name, crc32c] : recorded) known["db/" + name] = crc32c;
    return known;
  }

 private:
  std::string DatabasePath() const {
    return state_internal::DatabasePath(options().directory);
  }
  rocksdb::DB& db() const { return database_->db(); }
  bool sync() const { return options().durability == Durability::kMachine; }

  // That of a state in use.
  const RocksdbFamily& FamilyOf(const std::string& state) const {
    return database_->families().at(in_use_.at(state));
  }

  // Column families in which no state lives, or not yet.
  std::vector<std::string> Unused() const {
    std::vector<std::string> unused;
    for (const auto& [name, family] : database_->families()) {
      const bool used = std::ranges::any_of(
          in_use_,
          [&name = name](const auto& at) { return at.second == name; });
      if (!used) unused.push_back(name);
    }
    return unused;
  }

  // What is on disk still knows the column families that wait to be dropped:
  // without that the database could not be opened.
  absl::Status SaveRecord() override {
    v1::ShardRecord wanted = record();
    const std::vector<std::string> unused = Unused();
    for (const v1::StateRecord& state : saved_record_.states()) {
      if (std::ranges::count(unused, ColumnFamilyOf(state)) > 0) {
        *wanted.add_states() = state;
      }
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

  // Makes the column family of a state, not used yet. It is recorded first,
  // alone: one that nobody knows of could not be opened, and whatever else is
  // to change in the record waits for the commit.
  absl::Status CreateFamily(const v1::StateRecord& state) {
    const std::string name = ColumnFamilyOf(state);
    // A registration that failed has left it.
    if (database_->families().contains(name)) {
      MAYFLY_RETURN_IF_ERROR(database_->Drop(name));
    }
    v1::ShardRecord with_state = saved_record_;
    const bool recorded = std::ranges::any_of(
        with_state.states(), [&name](const v1::StateRecord& other) {
          return ColumnFamilyOf(other) == name;
        });
    if (!recorded) *with_state.add_states() = state;
    // RocksDB waits for the disk, too.
    MAYFLY_RETURN_IF_ERROR(
        Save(with_state, sync() || !state.column_family().empty()));
    return database_->Create(state);
  }

  // Has the state live in the column family that its record names; the one that
  // it lived in waits for the commit that makes it useless.
  void Use(const v1::StateRecord& state) {
    std::string& column_family = in_use_[state.name()];
    if (column_family == ColumnFamilyOf(state)) return;
    column_family = ColumnFamilyOf(state);
    AddToSweeper(state.name());
  }

  // Rewrites a state into a column family beside its own. A crash leaves what
  // no commit names.
  absl::Status Rewrite(v1::StateRecord& state, EntryMigration& migration) {
    rocksdb::ColumnFamilyHandle* const old = FamilyOf(state.name()).handle;
    state.set_column_family(NextName(state.name(), old->GetName()));
    MAYFLY_RETURN_IF_ERROR(CreateFamily(state));
    absl::Cleanup drop_family = [&] {
      database_->Drop(state.column_family()).IgnoreError();
    };
    const std::string directory = RewritePath(options().directory);
    MAYFLY_RETURN_IF_ERROR(RemoveAll(directory));
    MAYFLY_RETURN_IF_ERROR(MakeDirectory(directory));
    const absl::Cleanup remove_directory = [&] {
      RemoveAll(directory).IgnoreError();
    };
    SortedFiles files(&db(),
                      database_->families().at(state.column_family()).handle,
                      directory);
    MAYFLY_RETURN_IF_ERROR(RewriteEntries(db(), old, migration, files));
    MAYFLY_RETURN_IF_ERROR(files.Ingest());
    std::move(drop_family).Cancel();
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
    } while (database_->families().contains(next));
    return next;
  }

  // The states that the last commit found here.
  absl::Status TakeCommitted() {
    v1::ShardRecord& shard = record();
    shard.clear_states();
    for (const v1::StateRecord& state : saved_record_.states()) {
      const std::string name = ColumnFamilyOf(state);
      if (std::ranges::count(last_commit().states(), name) == 0) continue;
      *shard.add_states() = state;
      if (database_->families().contains(name)) in_use_[state.name()] = name;
    }
    for (const std::string& name : last_commit().states()) {
      if (database_->families().contains(name)) continue;
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
    for (const std::string& name : Unused()) {
      MAYFLY_RETURN_IF_ERROR(database_->Drop(name));
    }
    return absl::OkStatus();
  }

  // Has the state watched and swept, whether or not it is registered.
  void AddToSweeper(const std::string& state) {
    const RocksdbFamily& family = FamilyOf(state);
    sweeper_->Add(state, &db(), family.handle, family.ttl);
  }

  const std::shared_ptr<RocksdbResources> resources_;
  const std::shared_ptr<RocksdbSweeper> sweeper_ =
      std::make_shared<RocksdbSweeper>();
  std::unique_ptr<StateDatabase> database_;
  // What MANIFEST.mayfly holds.
  v1::ShardRecord saved_record_;
  // The column family that each state lives in.
  std::map<std::string, std::string> in_use_;
};

}  // namespace

std::unique_ptr<BackendCore> MakeRocksdbBackend(const BackendOptions& options,
                                                DirectoryLock lock) {
  return std::make_unique<RocksdbBackend>(options, std::move(lock));
}

}  // namespace mayfly::state_internal
