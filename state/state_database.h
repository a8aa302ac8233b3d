// The RocksDB database of a shard, with a column family for each state that the
// shard's record names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/rocksdb_options.h"
#include "mayfly/v1/state.pb.h"
#include "rocksdb/db.h"
#include "state/rocksdb_family.h"
#include "state/rocksdb_options.h"

namespace mayfly::state_internal {

// Threads: one.
class StateDatabase {
 public:
  enum class Access {
    kReadOnly,  // Of what is there.
    kWrite,     // Made if it is not there.
    kNew,       // It must not be there.
  };

  struct Setup {
    std::string shard_directory;
    std::shared_ptr<RocksdbResources> resources;
    RocksdbOptions options = {};
    PurgeClocks clocks;
  };

  // Opens the database with all its column families, each as the record of its
  // state says, registered or not: what is in them goes on expiring.
  // Errors: kDataLoss if it is damaged, or has a column family that the record
  // does not know; as FromRocksdb().
  static absl::StatusOr<std::unique_ptr<StateDatabase>> Open(
      Setup setup, const v1::ShardRecord& record, Access access);

  StateDatabase(const StateDatabase&) = delete;
  StateDatabase& operator=(const StateDatabase&) = delete;
  // Lifetime: no iterator may be left.
  ~StateDatabase();

  rocksdb::DB& db() const { return *db_; }

  // By their own names.
  std::map<std::string, RocksdbFamily>& families() { return families_; }
  const std::map<std::string, RocksdbFamily>& families() const {
    return families_;
  }

  // The last commit; an empty one if there is none.
  // Errors: kDataLoss if it does not decode; as FromRocksdb().
  absl::StatusOr<v1::CommitRecord> ReadCommit() const;

  // What column families that are made from now on are made with, and what was
  // asked for last; what is in force is with the database.
  const RocksdbOptions& options() const { return setup_.options; }
  void SetOptions(const RocksdbOptions& options) { setup_.options = options; }

  // Makes the column family that the record names.
  // Errors: as FromRocksdb().
  absl::Status Create(const v1::StateRecord& state);

  // Errors: as FromRocksdb(); the column family stays.
  absl::Status Drop(const std::string& column_family);

  // Closes it; only destruction may follow.
  // Errors: as FromRocksdb().
  absl::Status Close();

 private:
  explicit StateDatabase(Setup setup) : setup_(std::move(setup)) {}

  absl::Status OpenAll(const v1::ShardRecord& record, Access access);
  absl::StatusOr<rocksdb::ColumnFamilyOptions> RecordedOptions(
      const std::string& column_family, const v1::ShardRecord& record);
  absl::StatusOr<rocksdb::ColumnFamilyOptions> OptionsFor(
      const v1::StateRecord& state, RocksdbFamily& family) const;

  Setup setup_;
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, RocksdbFamily> families_;
};

}  // namespace mayfly::state_internal
