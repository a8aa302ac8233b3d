// What clean-up has done to a column family, in figures.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mayfly {

// A record is what RocksDB stores under a key: a value, a map entry, a whole
// list or a piece of one. An entry is what expires: a value, a map entry, one
// list element.
// Unit: counts since the column family was opened, except bytes_removed.
struct CleanupCounters {
  // Compactions, or parts of one, that went through the filter.
  std::int64_t passes = 0;
  // Records that the filter looked at.
  std::int64_t records_seen = 0;
  // Entries that the filter found expired and removed.
  std::int64_t entries_expired = 0;
  // Records of which nothing was left. An empty list is one.
  std::int64_t records_removed = 0;
  // Lists that lost some of their elements and kept the others.
  std::int64_t records_rewritten = 0;
  // Of keys and values that the filter removed.  Unit: bytes.
  std::int64_t bytes_removed = 0;
  // Records that the filter kept because it could not read them.
  std::int64_t malformed = 0;
  // Records that the filter kept unread because of their size.
  std::int64_t too_large = 0;
  // Records that the filter kept because memory ran out.
  std::int64_t failures = 0;
  // Looks at the clock that had no answer.
  std::int64_t clock_failures = 0;
  // Elements that merges left out. A read merges too, each time it meets the
  // same elements, so this measures work and not space.
  std::int64_t merge_elements_expired = 0;
  // Pieces of lists that merges carried over because they could not read them;
  // by every read too.
  std::int64_t merge_malformed = 0;

  friend bool operator==(const CleanupCounters&,
                         const CleanupCounters&) = default;
};

namespace compaction_internal {

inline constexpr std::array kCleanupCounters = {
    &CleanupCounters::passes,
    &CleanupCounters::records_seen,
    &CleanupCounters::entries_expired,
    &CleanupCounters::records_removed,
    &CleanupCounters::records_rewritten,
    &CleanupCounters::bytes_removed,
    &CleanupCounters::malformed,
    &CleanupCounters::too_large,
    &CleanupCounters::failures,
    &CleanupCounters::clock_failures,
    &CleanupCounters::merge_elements_expired,
    &CleanupCounters::merge_malformed,
};
static_assert(sizeof(CleanupCounters) ==
                  kCleanupCounters.size() * sizeof(std::int64_t),
              "list the new counter above");

// Threads: any; nothing is ordered by it.
class AtomicCleanupCounters {
 public:
  void Add(const CleanupCounters& delta) {
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      const std::int64_t count = delta.*kCleanupCounters[i];
      if (count != 0) totals_[i].fetch_add(count, std::memory_order_relaxed);
    }
  }

  CleanupCounters Read() const {
    CleanupCounters counters;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      counters.*kCleanupCounters[i] =
          totals_[i].load(std::memory_order_relaxed);
    }
    return counters;
  }

 private:
  std::array<std::atomic<std::int64_t>, kCleanupCounters.size()> totals_ = {};
};

}  // namespace compaction_internal
}  // namespace mayfly
