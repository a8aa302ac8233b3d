#include "state/state_database.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_status.h"

namespace mayfly::state_internal {

absl::StatusOr<std::unique_ptr<StateDatabase>> StateDatabase::Open(
    Setup setup, const v1::ShardRecord& record, Access access) {
  std::unique_ptr<StateDatabase> database(new StateDatabase(std::move(setup)));
  MAYFLY_RETURN_IF_ERROR(database->OpenAll(record, access));
  return database;
}

StateDatabase::~StateDatabase() { Close().IgnoreError(); }

absl::Status StateDatabase::OpenAll(const v1::ShardRecord& record,
                                    Access access) {
  const std::string path = DatabasePath(setup_.shard_directory);
  const std::string cannot = absl::StrCat("cannot open '", path, "'");
  rocksdb::DBOptions options =
      DatabaseOptions(*setup_.resources, setup_.options);
  options.create_if_missing = access != Access::kReadOnly;
  options.error_if_exists = access == Access::kNew;
  std::vector<std::string> names;
  const rocksdb::Status listed =
      rocksdb::DB::ListColumnFamilies(options, path, &names);
  if (listed.IsPathNotFound() && access != Access::kReadOnly) {
    names = {rocksdb::kDefaultColumnFamilyName};
  } else {
    MAYFLY_RETURN_IF_ERROR(FromRocksdb(listed, cannot));
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) {
    MAYFLY_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyOptions family_options,
                            RecordedOptions(name, record));
    descriptors.emplace_back(name, std::move(family_options));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  MAYFLY_RETURN_IF_ERROR(FromRocksdb(
      access == Access::kReadOnly
          ? rocksdb::DB::OpenForReadOnly(options, path, descriptors, &handles,
                                         &db)
          : rocksdb::DB::Open(options, path, descriptors, &handles, &db),
      cannot));
  db_.reset(db);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == rocksdb::kDefaultColumnFamilyName) {
      db_->DestroyColumnFamilyHandle(handles[i]);  // It has one of its own.
    } else {
      families_[names[i]].handle = handles[i];
    }
  }
  for (const auto& [name, family] : families_) {
    MAYFLY_RETURN_IF_ERROR(VerifyCleanup(family, *db_));
  }
  return absl::OkStatus();
}

absl::StatusOr<rocksdb::ColumnFamilyOptions> StateDatabase::RecordedOptions(
    const std::string& column_family, const v1::ShardRecord& record) {
  if (column_family == rocksdb::kDefaultColumnFamilyName) {
    return StateFamilyOptions(*setup_.resources, /*is_map=*/false,
                              OptionsOf(column_family, setup_.options));
  }
  for (const v1::StateRecord& state : record.states()) {
    if (ColumnFamilyOf(state) == column_family) {
      return OptionsFor(state, families_[column_family]);
    }
  }
  return absl::DataLossError(absl::StrCat(
      "'", DatabasePath(setup_.shard_directory), "' holds state '",
      column_family,
      "', of which the directory's record knows nothing; restore an earlier "
      "copy of the directory"));
}

absl::StatusOr<rocksdb::ColumnFamilyOptions> StateDatabase::OptionsFor(
    const v1::StateRecord& state, RocksdbFamily& family) const {
  const RocksdbStateOptions wanted = OptionsOf(state.name(), setup_.options);
  rocksdb::ColumnFamilyOptions options = StateFamilyOptions(
      *setup_.resources, state.kind() == v1::STATE_KIND_MAP, wanted);
  MAYFLY_RETURN_IF_ERROR(
      ConfigureCleanup(state, setup_.clocks, wanted, family, options));
  return options;
}

absl::StatusOr<v1::CommitRecord> StateDatabase::ReadCommit() const {
  const std::string path = DatabasePath(setup_.shard_directory);
  v1::CommitRecord commit;
  std::string bytes;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), kCommitKey, &bytes);
  if (status.IsNotFound()) return commit;
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(status, absl::StrCat("cannot read '", path, "'")));
  if (commit.ParseFromString(bytes)) return commit;
  return absl::DataLossError(absl::StrCat(
      "'", path,
      "': the record of the last commit does not decode; restore an earlier "
      "copy of the directory"));
}

absl::Status StateDatabase::Create(const v1::StateRecord& state) {
  RocksdbFamily family;
  MAYFLY_ASSIGN_OR_RETURN(const rocksdb::ColumnFamilyOptions options,
                          OptionsFor(state, family));
  const std::string name = ColumnFamilyOf(state);
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(db_->CreateColumnFamily(options, name, &family.handle),
                  absl::StrCat("cannot create state '", state.name(), "'")));
  families_[name] = std::move(family);
  return absl::OkStatus();
}

absl::Status StateDatabase::Drop(const std::string& column_family) {
  const auto at = families_.find(column_family);
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(db_->DropColumnFamily(at->second.handle),
                  absl::StrCat("cannot drop state '", column_family, "'")));
  db_->DestroyColumnFamilyHandle(at->second.handle);
  families_.erase(at);
  return absl::OkStatus();
}

absl::Status StateDatabase::Close() {
  if (db_ == nullptr) return absl::OkStatus();
  for (auto& [name, family] : families_) {
    db_->DestroyColumnFamilyHandle(family.handle);
  }
  families_.clear();
  const rocksdb::Status closed = db_->Close();
  db_.reset();
  return FromRocksdb(closed,
                     absl::StrCat("cannot close '",
                                  DatabasePath(setup_.shard_directory), "'"));
}

}  // namespace mayfly::state_internal
