#include "mayfly/state/ttl_config.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mayfly {
namespace {

absl::Status Invalid(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("StateTtlConfig: ", field, " ", why));
}

}  // namespace

StateTtlConfig::Builder StateTtlConfig::NewInfiniteBuilder() {
  Builder builder;
  builder.ttl_.infinite = true;
  return builder;
}

std::optional<IncrementalCleanup> StateTtlConfig::incremental_cleanup(
    bool default_on) const {
  if (incremental_) return incremental_;
  if (cleanup_in_background_ && default_on) return IncrementalCleanup{};
  return std::nullopt;
}

std::optional<RocksdbCompactFilterCleanup>
StateTtlConfig::rocksdb_compact_filter_cleanup() const {
  if (compact_filter_) return compact_filter_;
  if (cleanup_in_background_) return RocksdbCompactFilterCleanup{};
  return std::nullopt;
}

std::string StateTtlConfig::ToString() const {
  return absl::StrCat(
      "TTL ",
      ttl_ms_ == kInfiniteTtlMs ? "infinite" : absl::StrCat(ttl_ms_, " ms"),
      update_type_ == UpdateType::kOnReadAndWrite
          ? absl::StrCat(" on read and write, granularity ", granularity_ms_,
                         " ms")
          : " on create and write",
      visibility_ == StateVisibility::kNeverReturnExpired
          ? ", never returning expired"
          : ", returning expired if not cleaned up",
      time_ == TimeCharacteristic::kEventTime ? ", event time"
                                              : ", processing time",
      cleanup_in_background_ ? "" : ", no default clean-up",
      cleanup_full_snapshot_ ? ", full snapshots cleaned" : "",
      incremental_
          ? absl::StrCat(
                ", ", incremental_->entries_per_access,
                " entries cleaned per access",
                incremental_->run_for_every_record ? " and per record" : "")
          : "",
      compact_filter_
          ? absl::StrCat(
                ", compaction filter asking for the time every ",
                compact_filter_->query_time_after_num_entries, " entries",
                compact_filter_->periodic_compaction
                    ? absl::StrCat(
                          ", every ",
                          compact_filter_->periodic_compaction->count(), " s")
                    : "")
          : "");
}

StateTtlConfig::Builder& StateTtlConfig::Builder::SetUpdateType(
    UpdateType type) {
  config_.update_type_ = type;
  return *this;
}

StateTtlConfig::Builder& StateTtlConfig::Builder::SetStateVisibility(
    StateVisibility visibility) {
  config_.visibility_ = visibility;
  return *this;
}

StateTtlConfig::Builder& StateTtlConfig::Builder::SetTimeCharacteristic(
    TimeCharacteristic time) {
  config_.time_ = time;
  return *this;
}

StateTtlConfig::Builder& StateTtlConfig::Builder::DisableCleanupInBackground() {
  config_.cleanup_in_background_ = false;
  return *this;
}

StateTtlConfig::Builder& StateTtlConfig::Builder::CleanupFullSnapshot() {
  config_.cleanup_full_snapshot_ = true;
  return *this;
}

StateTtlConfig::Builder& StateTtlConfig::Builder::CleanupIncrementally(
    std::int64_t entries_per_access, bool run_for_every_record) {
  config_.incremental_ =
      IncrementalCleanup{entries_per_access, run_for_every_record};
  return *this;
}

StateTtlConfig::Builder& StateTtlConfig::Builder::CleanupInRocksdbCompactFilter(
    std::int64_t query_time_after_num_entries) {
  config_.compact_filter_ =
      RocksdbCompactFilterCleanup{query_time_after_num_entries, std::nullopt};
  periodic_compaction_.reset();
  return *this;
}

void StateTtlConfig::Builder::SetPeriodicCompaction(
    std::int64_t query_time_after_num_entries, Duration period) {
  CleanupInRocksdbCompactFilter(query_time_after_num_entries);
  periodic_compaction_ = std::move(period);
}

StateTtlConfig::Builder::Duration StateTtlConfig::Builder::FromFraction(
    long double value_ms) {
  // 2^63, the first value that does not fit.
  constexpr long double kTooLarge = 9223372036854775808.0L;
  Duration duration;
  if (std::isinf(value_ms) && value_ms > 0) {
    duration.infinite = true;
  } else if (std::isnan(value_ms) || std::isinf(value_ms)) {
    duration.error = absl::StrCat("must be a number of milliseconds, got ",
                                  static_cast<double>(value_ms));
  } else if (value_ms >= kTooLarge || value_ms < -kTooLarge) {
    duration.error = absl::StrCat("must be at most INT64_MAX ms, got ",
                                  static_cast<double>(value_ms), " ms");
  } else if (std::trunc(value_ms) != value_ms) {
    duration.error =
        absl::StrCat("must be a whole number of milliseconds, got ",
                     static_cast<double>(value_ms), " ms");
  } else {
    duration.ms = static_cast<std::int64_t>(value_ms);
  }
  return duration;
}

absl::StatusOr<StateTtlConfig> StateTtlConfig::Builder::Build() const {
  StateTtlConfig config = config_;
  if (!ttl_.error.empty()) return Invalid("ttl", ttl_.error);
  if (ttl_.infinite) {
    config.ttl_ms_ = kInfiniteTtlMs;
  } else if (ttl_.ms <= 0) {
    return Invalid("ttl", absl::StrCat("must be > 0 ms, got ", ttl_.ms, " ms"));
  } else {
    config.ttl_ms_ = ttl_.ms;
  }

  if (!granularity_.error.empty()) {
    return Invalid("refresh granularity", granularity_.error);
  }
  if (granularity_.infinite || granularity_.ms < 0 ||
      (!ttl_.infinite && granularity_.ms > ttl_.ms)) {
    return Invalid("refresh granularity",
                   absl::StrCat("must lie between 0 ms and the ttl, got ",
                                granularity_.infinite
                                    ? "infinity"
                                    : absl::StrCat(granularity_.ms, " ms")));
  }
  if (granularity_.ms > 0 &&
      config_.update_type_ != UpdateType::kOnReadAndWrite) {
    return Invalid("refresh granularity",
                   absl::StrCat("must be 0 ms unless the update type is "
                                "kOnReadAndWrite, got ",
                                granularity_.ms, " ms"));
  }
  config.granularity_ms_ = granularity_.ms;

  if (config.incremental_ && config.incremental_->entries_per_access <= 0) {
    return Invalid("incremental clean-up",
                   absl::StrCat("must check > 0 entries per access, got ",
                                config.incremental_->entries_per_access));
  }
  if (config.compact_filter_ &&
      config.compact_filter_->query_time_after_num_entries < 0) {
    return Invalid(
        "compaction filter",
        absl::StrCat("must query the time after >= 0 entries, got ",
                     config.compact_filter_->query_time_after_num_entries));
  }
  if (periodic_compaction_) {
    const Duration& period = *periodic_compaction_;
    if (!period.error.empty()) {
      return Invalid("periodic compaction", period.error);
    }
    constexpr std::int64_t kSecondsMax = std::numeric_limits<uint32_t>::max();
    if (period.infinite || period.ms < 0 || period.ms > kSecondsMax * 1000) {
      return Invalid(
          "periodic compaction",
          absl::StrCat(
              "must lie between 0 (off) and ", kSecondsMax, " seconds, got ",
              period.infinite ? "infinity" : absl::StrCat(period.ms, " ms")));
    }
    config.compact_filter_->periodic_compaction =
        std::chrono::seconds((period.ms + 999) / 1000);
  }
  return config;
}

}  // namespace mayfly
