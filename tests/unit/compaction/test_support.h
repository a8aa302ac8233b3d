// What the tests of this folder share: a clock that stands until it is moved,
// stored bytes, and the TTL of a column family.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/clock.h"
#include "mayfly/serde/entry_codec.h"

namespace mayfly::compaction_test {

// Threads: any.
class TestClock : public TtlClock {
 public:
  TimestampMs NowMs() const override {
    ++reads;
    if (on_read) std::exchange(on_read, nullptr)();
    return now_ms.fetch_add(step_ms);
  }

  mutable std::atomic<TimestampMs> now_ms = 0;
  // How far each reading moves it.
  std::atomic<std::int64_t> step_ms = 0;
  mutable std::atomic<int> reads = 0;
  // What the next reading of it does first. Set while nobody reads.
  mutable std::function<void()> on_read;
};

// The stored form of a value or map entry.
inline std::string Entry(TimestampMs timestamp_ms,
                         std::string_view user_bytes = "v") {
  std::string stored;
  AppendTimestamp(timestamp_ms, stored);
  return stored.append(user_bytes);
}

// The stored form of a list of one element; concatenate for more.
inline std::string Element(TimestampMs timestamp_ms, std::string_view payload) {
  std::string stored;
  AppendListElement(timestamp_ms, payload, stored);
  return stored;
}

// The TTL of most tests.  Unit: milliseconds.
inline constexpr std::int64_t kTtlMs = 100;

// A TTL of kTtlMs that looks at the clock for every record.
inline ColumnFamilyTtlSettings Settings(EntryLayout layout) {
  return {.name = "state",
          .layout = layout,
          .rule = {.ttl_ms = kTtlMs},
          .query_time_after_num_entries = 1};
}

// Settings that a test made must be right; value() throws otherwise.
inline std::shared_ptr<ColumnFamilyTtl> MakeTtl(
    ColumnFamilyTtlSettings settings, std::shared_ptr<const TtlClock> clock,
    CleanupDebugLog debug_log = nullptr) {
  return ColumnFamilyTtl::Create(std::move(settings), std::move(clock),
                                 std::move(debug_log))
      .value();
}

}  // namespace mayfly::compaction_test
