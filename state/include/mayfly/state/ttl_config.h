// How long a state's entries live, and what a reader may see once their time
// is up.
//
//   absl::StatusOr<StateTtlConfig> ttl =
//       StateTtlConfig::NewBuilder(std::chrono::hours(3))
//           .SetUpdateType(UpdateType::kOnReadAndWrite)
//           .Build();
//   if (!ttl.ok()) return ttl.status();
//   descriptor.EnableTimeToLive(*ttl);
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <string>

#include "absl/status/statusor.h"
#include "mayfly/serde/timestamp.h"

namespace mayfly {

// Which accesses renew an entry's timestamp.
// Source: Flink StateTtlConfig.UpdateType.
enum class UpdateType : std::uint8_t {
  // An ordinary state: no TTL, stored without timestamps.
  kDisabled = 0,
  kOnCreateAndWrite = 1,
  // Reads of live entries renew them too, so such a read is also a write;
  // SetRefreshGranularity bounds what that costs.
  kOnReadAndWrite = 2,
};

// Whether a read may return an expired entry that clean-up has not reached.
// Source: Flink StateTtlConfig.StateVisibility.
enum class StateVisibility : std::uint8_t {
  // Expired is as if absent: fit for data that must not be seen any more.
  kNeverReturnExpired = 1,
  // The read that meets an expired entry returns it, and removes it: a second
  // read finds nothing.
  kReturnExpiredIfNotCleanedUp = 2,
};

// Which clock a state's entries age by.
enum class TimeCharacteristic : std::uint8_t {
  // The machine's wall clock, held so that it never steps back.
  kProcessingTime = 1,
  // The shard's watermark: a replay of old input expires exactly what it
  // expired then.
  kEventTime = 2,
};

// Checks n entries of a state for expiry at each access to it.
// Source: Flink StateTtlConfig.cleanupIncrementally.
struct IncrementalCleanup {
  std::int64_t entries_per_access = 5;
  // Also at each record, whether or not it touches the state.
  bool run_for_every_record = false;

  friend bool operator==(const IncrementalCleanup&,
                         const IncrementalCleanup&) = default;
};

// Drops expired entries when RocksDB compacts them.
// Source: Flink StateTtlConfig.cleanupInRocksdbCompactFilter.
struct RocksdbCompactFilterCleanup {
  // Entries between two looks at the clock; 0 looks at each entry.
  std::int64_t query_time_after_num_entries = 1000;
  // Files older than this are compacted even if nothing else asks for it.
  // 0 turns that off; nullopt chooses by the TTL.
  std::optional<std::chrono::seconds> periodic_compaction;

  friend bool operator==(const RocksdbCompactFilterCleanup&,
                         const RocksdbCompactFilterCleanup&) = default;
};

// An entry last accessed at instant t is expired at every instant >= t + ttl.
// The sum saturates.  Source: Flink TtlUtils.expired.
// Threads: immutable once built; copy and share freely.
class StateTtlConfig {
 public:
  class Builder;

  // Starts a config; the duration is its one mandatory argument.
  // Unit: any std::chrono duration that is a whole number of milliseconds.
  // Range: 1 ms to INT64_MAX ms, checked by Build(). A floating-point duration
  // of infinity never expires.
  template <typename Rep, typename Period>
  static Builder NewBuilder(std::chrono::duration<Rep, Period> ttl);

  // A builder whose entries never expire but carry timestamps, so that a
  // finite TTL can take over later.
  static Builder NewInfiniteBuilder();

  // Unit: milliseconds; kInfiniteTtlMs if entries never expire.
  std::int64_t ttl_ms() const { return ttl_ms_; }
  UpdateType update_type() const { return update_type_; }
  StateVisibility visibility() const { return visibility_; }
  TimeCharacteristic time_characteristic() const { return time_; }

  // With kOnReadAndWrite a read renews an entry only if its timestamp is at
  // least this old.  Unit: milliseconds; 0 renews at every read.
  std::int64_t refresh_granularity_ms() const { return granularity_ms_; }

  // Background clean-up that nobody asked for explicitly runs only if true.
  bool cleanup_in_background() const { return cleanup_in_background_; }

  // What has expired when a commit of the heap backend begins is left out of
  // its snapshot; and out of savepoints, once there are any.
  bool cleanup_full_snapshot() const { return cleanup_full_snapshot_; }

  // The strategy asked for, or the backend's default; nullopt if off.
  // On heap the default is 5 entries per access; on RocksDB it is off.
  std::optional<IncrementalCleanup> incremental_cleanup(bool default_on) const;

  // The strategy asked for, or the default; nullopt if off.
  std::optional<RocksdbCompactFilterCleanup> rocksdb_compact_filter_cleanup()
      const;

  // True unless the update type is kDisabled.
  bool enabled() const { return update_type_ != UpdateType::kDisabled; }

  // For messages: "TTL 10800000 ms, on create and write, ...".
  std::string ToString() const;

  friend bool operator==(const StateTtlConfig&,
                         const StateTtlConfig&) = default;

 private:
  StateTtlConfig() = default;  // Only Build() hands out a checked one.

  std::int64_t ttl_ms_ = kInfiniteTtlMs;
  std::int64_t granularity_ms_ = 0;
  UpdateType update_type_ = UpdateType::kOnCreateAndWrite;
  StateVisibility visibility_ = StateVisibility::kNeverReturnExpired;
  TimeCharacteristic time_ = TimeCharacteristic::kProcessingTime;
  bool cleanup_in_background_ = true;
  bool cleanup_full_snapshot_ = false;
  std::optional<IncrementalCleanup> incremental_;
  std::optional<RocksdbCompactFilterCleanup> compact_filter_;
};

// Collects settings; Build() checks them all.  Threads: one.
class StateTtlConfig::Builder {
 public:
  Builder& SetUpdateType(UpdateType type);
  Builder& SetStateVisibility(StateVisibility visibility);
  Builder& SetTimeCharacteristic(TimeCharacteristic time);

  // Unit: whole milliseconds.  Range: 0 to the ttl; 0 unless reads renew.
  template <typename Rep, typename Period>
  Builder& SetRefreshGranularity(std::chrono::duration<Rep, Period> age);

  // Turns off the clean-up that runs by default; what is asked for explicitly
  // still runs.
  Builder& DisableCleanupInBackground();

  Builder& CleanupFullSnapshot();

  // Range: entries_per_access > 0.
  Builder& CleanupIncrementally(std::int64_t entries_per_access,
                                bool run_for_every_record);

  // Range: query_time_after_num_entries >= 0.
  Builder& CleanupInRocksdbCompactFilter(
      std::int64_t query_time_after_num_entries);

  // Unit: periodic_compaction in whole milliseconds, rounded up to whole
  // seconds, RocksDB's unit.  Range: 0 (off) to UINT32_MAX seconds.
  template <typename Rep, typename Period>
  Builder& CleanupInRocksdbCompactFilter(
      std::int64_t query_time_after_num_entries,
      std::chrono::duration<Rep, Period> periodic_compaction);

  // Errors: kInvalidArgument naming the first field out of range and the value
  // given.
  absl::StatusOr<StateTtlConfig> Build() const;

 private:
  friend class StateTtlConfig;

  // A duration as given: converted if it is a whole number of milliseconds
  // that fits, and otherwise kept as the text of an error.
  struct Duration {
    std::int64_t ms = 0;
    bool infinite = false;
    std::string error;
  };
  template <typename Rep, typename Period>
  static Duration ToMilliseconds(std::chrono::duration<Rep, Period> value);
  static Duration FromFraction(long double value_ms);

  void SetPeriodicCompaction(std::int64_t query_time_after_num_entries,
                             Duration period);

  StateTtlConfig config_;
  Duration ttl_;
  Duration granularity_;
  std::optional<Duration> periodic_compaction_;
};

template <typename Rep, typename Period>
StateTtlConfig::Builder StateTtlConfig::NewBuilder(
    std::chrono::duration<Rep, Period> ttl) {
  Builder builder;
  builder.ttl_ = Builder::ToMilliseconds(ttl);
  return builder;
}

template <typename Rep, typename Period>
StateTtlConfig::Builder& StateTtlConfig::Builder::SetRefreshGranularity(
    std::chrono::duration<Rep, Period> age) {
  granularity_ = ToMilliseconds(age);
  return *this;
}

template <typename Rep, typename Period>
StateTtlConfig::Builder& StateTtlConfig::Builder::CleanupInRocksdbCompactFilter(
    std::int64_t query_time_after_num_entries,
    std::chrono::duration<Rep, Period> periodic_compaction) {
  SetPeriodicCompaction(query_time_after_num_entries,
                        ToMilliseconds(periodic_compaction));
  return *this;
}

template <typename Rep, typename Period>
StateTtlConfig::Builder::Duration StateTtlConfig::Builder::ToMilliseconds(
    std::chrono::duration<Rep, Period> value) {
  // A long double holds every int64 and the ratio is in lowest terms, so whole
  // milliseconds convert exactly and nothing wraps.
  using Ratio = std::ratio_divide<Period, std::milli>;
  return FromFraction(static_cast<long double>(value.count()) *
                      static_cast<long double>(Ratio::num) /
                      static_cast<long double>(Ratio::den));
}

}  // namespace mayfly
