#include "state/rocksdb_family.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "state/rocksdb_status.h"
#include "state/state_registry.h"

namespace mayfly::state_internal {
namespace {

constexpr std::chrono::seconds kPeriodicCompactionMin = std::chrono::hours(24);
constexpr std::chrono::seconds kPeriodicCompactionMax =
    std::chrono::hours(24 * 30);

// Once per TTL if nothing else is said, but not more often than once a day: it
// is the net beneath the other ways of clean-up.
std::chrono::seconds DefaultPeriod(std::int64_t ttl_ms) {
  if (ttl_ms == kInfiniteTtlMs) return kPeriodicCompactionMax;
  return std::clamp(std::chrono::seconds(ttl_ms / 1000), kPeriodicCompactionMin,
                    kPeriodicCompactionMax);
}

}  // namespace

absl::Status ConfigureCleanup(const v1::StateRecord& state,
                              const PurgeClocks& purge_clocks,
                              const RocksdbStateOptions& wanted,
                              RocksdbFamily& family,
                              rocksdb::ColumnFamilyOptions& options) {
  const bool is_list = state.kind() == v1::STATE_KIND_LIST;
  if (!state.has_ttl()) {
    if (is_list) ConfigurePlainListColumnFamily(&options);
    return absl::OkStatus();
  }
  family.ttl_period = DefaultPeriod(state.ttl().ttl_ms());
  MAYFLY_ASSIGN_OR_RETURN(
      family.ttl,
      ColumnFamilyTtl::Create(
          {.name = state.name(),
           .layout = is_list ? EntryLayout::kList : EntryLayout::kValue,
           .rule = RuleOf(state),
           .periodic_compaction =
               wanted.periodic_compaction.value_or(family.ttl_period)},
          IsInEventTime(state) ? purge_clocks.event : purge_clocks.processing));
  ConfigureTtlColumnFamily(family.ttl, &options);
  return absl::OkStatus();
}

absl::Status ApplyCleanup(const StateSpec& spec, const v1::StateRecord& state,
                          const RocksdbStateOptions& wanted, rocksdb::DB& db,
                          RocksdbFamily& family) {
  if (family.ttl == nullptr) return absl::OkStatus();
  const auto cleanup = spec.ttl->rocksdb_compact_filter_cleanup();
  family.rule_to_be = cleanup ? RuleOf(state) : ExpiryRule{};
  // Switched off, the filter stays and finds nothing expired, at once.
  if (!cleanup) {
    MAYFLY_RETURN_IF_ERROR(family.ttl->SetRule(*family.rule_to_be));
  }
  family.ttl_period = std::chrono::seconds(0);
  if (cleanup) {
    MAYFLY_RETURN_IF_ERROR(family.ttl->SetQueryTimeAfterNumEntries(
        cleanup->query_time_after_num_entries));
    family.ttl_period = cleanup->periodic_compaction.value_or(
        DefaultPeriod(state.ttl().ttl_ms()));
  }
  const std::chrono::seconds period =
      wanted.periodic_compaction.value_or(family.ttl_period);
  MAYFLY_RETURN_IF_ERROR(FromRocksdb(
      db.SetOptions(family.handle, {{"periodic_compaction_seconds",
                                     std::to_string(period.count())}}),
      absl::StrCat("cannot set up clean-up of state '", spec.name, "'")));
  return VerifyCleanup(family, db);
}

absl::Status VerifyCleanup(const RocksdbFamily& family, rocksdb::DB& db) {
  if (family.ttl == nullptr) return absl::OkStatus();
  return VerifyTtlColumnFamily(*family.ttl, db.GetOptions(family.handle));
}

}  // namespace mayfly::state_internal
