// The column family of one state: how it is opened, and how it cleans up.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/clock.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/internal/state_spec.h"
#include "mayfly/state/rocksdb_options.h"
#include "mayfly/v1/state.pb.h"
#include "rocksdb/db.h"
#include "state/rocksdb_store.h"

namespace mayfly::state_internal {

// What entries are destroyed by.
struct PurgeClocks {
  std::shared_ptr<const TtlClock> processing;
  std::shared_ptr<const TtlClock> event;
};

struct RocksdbFamily {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  // Null without TTL.
  std::shared_ptr<ColumnFamilyTtl> ttl;
  // In force from the next commit on: until then a start that fails must have
  // destroyed nothing.
  std::optional<ExpiryRule> rule_to_be;
  // Of periodic compactions, as the state's TTL has it: what is in force unless
  // RocksdbStateOptions name another.
  std::chrono::seconds ttl_period{0};
  // Null until the state is registered.
  std::unique_ptr<RocksdbStore> store;
};

// Has the column family that is about to be opened with `options` clean up as
// the state is recorded, registered or not.
// Errors: kInvalidArgument if the record is out of range.
absl::Status ConfigureCleanup(const v1::StateRecord& state,
                              const PurgeClocks& purge_clocks,
                              const RocksdbStateOptions& wanted,
                              RocksdbFamily& family,
                              rocksdb::ColumnFamilyOptions& options);

// Makes the live column family clean up as the program asks for now.
// Errors: kFailedPrecondition if it cannot clean up; kUnavailable if RocksDB
// cannot record it.
absl::Status ApplyCleanup(const StateSpec& spec, const v1::StateRecord& state,
                          const RocksdbStateOptions& wanted, rocksdb::DB& db,
                          RocksdbFamily& family);

// Errors: kFailedPrecondition if the live column family does not clean up.
absl::Status VerifyCleanup(const RocksdbFamily& family, rocksdb::DB& db);

}  // namespace mayfly::state_internal
