// The one way to make a RocksDB column family forget what has expired.
//
//   std::shared_ptr<ColumnFamilyTtl> ttl = *ColumnFamilyTtl::Create(
//       {.name = "streak", .layout = EntryLayout::kValue,
//        .rule = {.ttl_ms = 3 * 3'600'000}},
//       purge_clock);
//   rocksdb::ColumnFamilyOptions options;
//   ConfigureTtlColumnFamily(ttl, &options);
//   // ... open or create the column family with `options`, then make sure:
//   status = VerifyTtlColumnFamily(*ttl, db->GetOptions(handle));
//   // ... and at any time, without reopening anything:
//   status = ttl->SetRule({.ttl_ms = 6 * 3'600'000});
//
// Not promised: when an expired entry leaves the disk. Readers check expiry
// themselves, always. See compaction/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/compaction/cleanup_counters.h"
#include "mayfly/serde/clock.h"
#include "mayfly/serde/timestamp.h"
#include "rocksdb/options.h"

namespace mayfly {

// What the stored values of a column family are. The numbers are frozen.
// Source: Flink's RocksDB filter, which has the same three.
enum class EntryLayout : std::uint8_t {
  // Unknown bytes, of which nothing is ever removed.
  kDisabled = 0,
  // `timestamp | user bytes`: value, reducing, aggregating, map entry.
  kValue = 1,
  // Elements `timestamp | length | bytes`, appended by merging.
  kList = 2,
};

struct ColumnFamilyTtlSettings {
  // The state's name, for messages.
  std::string name;

  EntryLayout layout = EntryLayout::kDisabled;

  ExpiryRule rule;

  // Stored records between two looks at the clock, in each compaction; 0 and 1
  // look at every record.  Range: 0 and up.
  std::int64_t query_time_after_num_entries = 1000;

  // Files older than this are rewritten even if nothing else asks for it; 0
  // turns that off, nullopt leaves the choice to RocksDB.  Range: 0 and up.
  std::optional<std::chrono::seconds> periodic_compaction = std::nullopt;
};

// Takes one line about something removed, rewritten or damaged.
// Threads: called from compaction threads, several at once.
using CleanupDebugLog = std::function<void(std::string_view line)>;

// One reading of rule and clock together: what is expired for the purpose of
// destroying it. A default one finds nothing expired.
struct PurgePoint {
  ExpiryRule rule;
  TimestampMs now_ms = 0;

  bool IsExpired(TimestampMs last_access_ms) const {
    return last_access_ms <= ExpiredThrough();
  }

  // The latest last access that counts as expired: who checks many entries
  // compares each with this.
  TimestampMs ExpiredThrough() const { return rule.ExpiredThrough(now_ms); }
};

// How the entries of one column family expire, shared between whoever opens it
// and the RocksDB threads that compact it.
// Threads: any.  Lifetime: options that were configured with it, and column
// families opened with those, keep it alive.
class ColumnFamilyTtl {
 public:
  // `purge_clock` decides what is destroyed. It must never be ahead of what
  // readers take for now: what it calls expired is gone for them too. If it
  // answers with a negative time or throws, nothing is removed until it is
  // asked again. `debug_log` may be empty, and then costs nothing.
  // Errors: kInvalidArgument naming the setting out of range.
  static absl::StatusOr<std::shared_ptr<ColumnFamilyTtl>> Create(
      ColumnFamilyTtlSettings settings,
      std::shared_ptr<const TtlClock> purge_clock,
      CleanupDebugLog debug_log = nullptr);

  ColumnFamilyTtl(const ColumnFamilyTtl&) = delete;
  ColumnFamilyTtl& operator=(const ColumnFamilyTtl&) = delete;

  const std::string& name() const { return settings_.name; }
  EntryLayout layout() const { return settings_.layout; }
  std::int64_t query_time_after_num_entries() const {
    return query_time_after_num_entries_.load(std::memory_order_relaxed);
  }
  std::optional<std::chrono::seconds> periodic_compaction() const {
    return settings_.periodic_compaction;
  }
  const CleanupDebugLog& debug_log() const { return debug_log_; }

  // The rule in force.
  ExpiryRule rule() const { return *rule_.load(std::memory_order_acquire); }

  // Replaces the rule. Merges follow it at once, compactions that are under way
  // from their next look at the clock on. A longer TTL therefore needs an
  // expired_through_ms that covers what had expired under the shorter one: such
  // entries may still be removed.
  // Errors: kInvalidArgument if the TTL is out of range; the old rule stays.
  absl::Status SetRule(const ExpiryRule& rule);

  // Replaces the number of records between two looks at the clock; compactions
  // follow it from their next look on.
  // Errors: kInvalidArgument if it is negative; the old number stays.
  absl::Status SetQueryTimeAfterNumEntries(std::int64_t num_entries);

  // The rule in force and the time on the purge clock; nullopt if the clock
  // cannot tell.
  std::optional<PurgePoint> ReadPurgePoint() const noexcept;

  // What clean-up has done since Create(). Each figure is exact by itself;
  // figures read during a compaction need not add up.
  CleanupCounters counters() const { return counters_.Read(); }

  // Adds the counts of one filter or merge.
  void Count(const CleanupCounters& delta) { counters_.Add(delta); }

 private:
  ColumnFamilyTtl(ColumnFamilyTtlSettings settings,
                  std::shared_ptr<const TtlClock> purge_clock,
                  CleanupDebugLog debug_log);

  const ColumnFamilyTtlSettings settings_;
  const std::shared_ptr<const TtlClock> purge_clock_;
  const CleanupDebugLog debug_log_;

  // Every rule ever set. Readers hold no lock, so none is freed before the
  // end; a rule changes when a person changes a TTL.
  std::mutex mutex_;
  std::deque<ExpiryRule> rules_;  // Guarded by mutex_.
  std::atomic<const ExpiryRule*> rule_;
  std::atomic<std::int64_t> query_time_after_num_entries_;

  compaction_internal::AtomicCleanupCounters counters_;
};

// Makes the column family that will be opened or created with `options` remove
// expired entries when it is compacted, and list merges leave them out. Sets
// the filter factory, for lists the merge operator, and the period of periodic
// compactions if there is one.
void ConfigureTtlColumnFamily(std::shared_ptr<ColumnFamilyTtl> ttl,
                              rocksdb::ColumnFamilyOptions* options);

// Checks that an open column family is the one that `ttl` configured, so that a
// forgotten step is an error and not a state that grows for ever.
// `live_options` are those of the open column family, db->GetOptions(handle).
// Errors: kFailedPrecondition naming the column family and what is missing.
absl::Status VerifyTtlColumnFamily(
    const ColumnFamilyTtl& ttl,
    const rocksdb::ColumnFamilyOptions& live_options);

// For lists of which compaction removes nothing: those without TTL, and those
// whose clean-up in the background is off. Sets a merge operator that appends,
// whatever the bytes of the elements are.
void ConfigurePlainListColumnFamily(rocksdb::ColumnFamilyOptions* options);

}  // namespace mayfly
