#include "mayfly/compaction/ttl_column_family.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compaction/file_times_collector.h"
#include "compaction/list_merge_operator.h"
#include "compaction/ttl_compaction_filter.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly {
namespace {

using compaction_internal::FileTimesCollectorFactory;
using compaction_internal::ListAppendOperator;
using compaction_internal::TtlCompactionFilterFactory;
using compaction_internal::TtlListAppendOperator;

absl::Status CheckRule(const std::string& name, const ExpiryRule& rule) {
  if (rule.ttl_ms > 0 || rule.ttl_ms == kInfiniteTtlMs) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("state ", name, ": ttl_ms is ", rule.ttl_ms,
                   "; give at least 1, or kInfiniteTtlMs"));
}

absl::Status CheckQueryTime(const std::string& name, std::int64_t num_entries) {
  if (num_entries >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "state ", name, ": query_time_after_num_entries is ", num_entries,
      "; give 0 to look at the clock for every record, or more"));
}

absl::Status CheckSettings(const ColumnFamilyTtlSettings& settings) {
  MAYFLY_RETURN_IF_ERROR(CheckRule(settings.name, settings.rule));
  MAYFLY_RETURN_IF_ERROR(
      CheckQueryTime(settings.name, settings.query_time_after_num_entries));
  const std::chrono::seconds period =
      settings.periodic_compaction.value_or(std::chrono::seconds(0));
  if (period.count() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("state ", settings.name, ": periodic_compaction is ",
                     period.count(), " s; give 0 to turn it off"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<ColumnFamilyTtl>> ColumnFamilyTtl::Create(
    ColumnFamilyTtlSettings settings,
    std::shared_ptr<const TtlClock> purge_clock, CleanupDebugLog debug_log) {
  MAYFLY_RETURN_IF_ERROR(CheckSettings(settings));
  if (purge_clock == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("state ", settings.name, ": purge_clock is null"));
  }
  return std::shared_ptr<ColumnFamilyTtl>(new ColumnFamilyTtl(
      std::move(settings), std::move(purge_clock), std::move(debug_log)));
}

ColumnFamilyTtl::ColumnFamilyTtl(ColumnFamilyTtlSettings settings,
                                 std::shared_ptr<const TtlClock> purge_clock,
                                 CleanupDebugLog debug_log)
    : settings_(std::move(settings)),
      purge_clock_(std::move(purge_clock)),
      debug_log_(std::move(debug_log)),
      rules_{settings_.rule},
      rule_(&rules_.back()),
      query_time_after_num_entries_(settings_.query_time_after_num_entries) {}

absl::Status ColumnFamilyTtl::SetRule(const ExpiryRule& rule) {
  MAYFLY_RETURN_IF_ERROR(CheckRule(name(), rule));
  const std::lock_guard lock(mutex_);
  if (rule == rules_.back()) return absl::OkStatus();
  rules_.push_back(rule);
  rule_.store(&rules_.back(), std::memory_order_release);
  return absl::OkStatus();
}

absl::Status ColumnFamilyTtl::SetQueryTimeAfterNumEntries(
    std::int64_t num_entries) {
  MAYFLY_RETURN_IF_ERROR(CheckQueryTime(name(), num_entries));
  query_time_after_num_entries_.store(num_entries, std::memory_order_relaxed);
  return absl::OkStatus();
}

std::optional<PurgePoint> ColumnFamilyTtl::ReadPurgePoint() const noexcept {
  try {
    const TimestampMs now_ms = purge_clock_->NowMs();
    if (now_ms < 0) return std::nullopt;
    return PurgePoint{.rule = rule(), .now_ms = now_ms};
  } catch (...) {
    return std::nullopt;
  }
}

void ConfigureTtlColumnFamily(std::shared_ptr<ColumnFamilyTtl> ttl,
                              rocksdb::ColumnFamilyOptions* options) {
  if (ttl->layout() == EntryLayout::kList) {
    options->merge_operator = std::make_shared<TtlListAppendOperator>(ttl);
  }
  if (ttl->periodic_compaction().has_value()) {
    options->periodic_compaction_seconds =
        static_cast<std::uint64_t>(ttl->periodic_compaction()->count());
  }
  options->table_properties_collector_factories.push_back(
      std::make_shared<FileTimesCollectorFactory>(ttl->layout()));
  options->compaction_filter_factory =
      std::make_shared<TtlCompactionFilterFactory>(std::move(ttl));
}

absl::Status VerifyTtlColumnFamily(
    const ColumnFamilyTtl& ttl,
    const rocksdb::ColumnFamilyOptions& live_options) {
  const auto fault = [&ttl](const char* what) {
    return absl::FailedPreconditionError(
        absl::StrCat("column family ", ttl.name(),
                     ": what expires would never leave the disk: ", what));
  };
  if (ttl.layout() == EntryLayout::kDisabled) {
    return fault("its entry layout is kDisabled; name the layout");
  }
  const auto* factory = dynamic_cast<const TtlCompactionFilterFactory*>(
      live_options.compaction_filter_factory.get());
  if (factory == nullptr) {
    return fault(
        "it has no Mayfly filter; call ConfigureTtlColumnFamily on its options "
        "before it is opened");
  }
  if (&factory->ttl() != &ttl) {
    return fault("its filter belongs to another ColumnFamilyTtl");
  }
  if (live_options.compaction_filter != nullptr) {
    return fault(
        "the option compaction_filter is set, which RocksDB prefers to the "
        "filter factory; leave it null");
  }
  if (live_options.enable_blob_files) {
    return fault(
        "its values go to blob files, of which the space does not come back; "
        "turn enable_blob_files off");
  }
  if (ttl.layout() == EntryLayout::kList) {
    const auto* merge = dynamic_cast<const TtlListAppendOperator*>(
        live_options.merge_operator.get());
    if (merge == nullptr || &merge->ttl() != &ttl) {
      return fault(
          "lists that are appended to keep growing without Mayfly's merge "
          "operator; do not replace the one ConfigureTtlColumnFamily sets");
    }
  }
  return absl::OkStatus();
}

void ConfigurePlainListColumnFamily(rocksdb::ColumnFamilyOptions* options) {
  options->merge_operator = std::make_shared<ListAppendOperator>();
}

}  // namespace mayfly
