// The log of one partition, as a broker keeps it: segments of batches of
// records. What is in it changes here by appending and by removal from its
// start, and in log_cleaner.h by compaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mayfly/log/consumer.h"
#include "testing/simulated_log/topic_settings.h"

namespace mayfly::testing_internal {

struct StoredRecord {
  std::int64_t offset = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::int64_t timestamp_ms = 0;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;

  std::size_t bytes() const;
};

enum class BatchKind : std::uint8_t { kData, kCommitMarker, kAbortMarker };

// What a producer sent at one go, or a marker that ends a transaction. Its
// offsets stay its own when records of it are gone.
struct StoredBatch {
  std::int64_t base_offset = 0;
  std::int64_t last_offset = 0;
  BatchKind kind = BatchKind::kData;
  std::int64_t producer_id = -1;
  bool transactional = false;
  // Of all records that it had at first.
  std::int64_t max_timestamp_ms = 0;
  // When its tombstones, or itself being a marker, may go.
  std::optional<std::int64_t> delete_horizon_ms;
  std::vector<StoredRecord> records;

  bool is_marker() const { return kind != BatchKind::kData; }
  std::int64_t bytes() const;
};

struct Segment {
  std::int64_t base_offset = 0;
  std::vector<StoredBatch> batches;

  std::int64_t bytes() const;
  // Requires: there is a batch.
  std::int64_t first_timestamp_ms() const;
  std::int64_t max_timestamp_ms() const;
};

// Threads: one at a time.
class PartitionLog {
 public:
  PartitionLog() : segments_(1) {}

  // Appends records, which get the offsets from high() on.
  // Requires: there are some.
  void Append(std::vector<StoredRecord> records, std::int64_t producer_id,
              bool transactional, const TopicSettings& settings);

  // Ends the transaction that a producer has in this partition.
  void AppendMarker(BatchKind kind, std::int64_t producer_id,
                    std::int64_t now_ms, const TopicSettings& settings);

  std::int64_t low() const { return low_; }
  std::int64_t high() const { return next_offset_; }
  std::int64_t last_stable() const;
  std::int64_t end(IsolationLevel isolation) const {
    return isolation == IsolationLevel::kReadCommitted ? last_stable() : high();
  }

  // The first record at `position` or after it that may be seen, or null;
  // moves `position` past it, or to the end.
  // Lifetime: until anything changes.
  const StoredRecord* Next(std::int64_t& position,
                           IsolationLevel isolation) const;

  // Removes what is below `offset`: it is the new low().
  // Requires: low() <= offset <= high().
  void RemoveBelow(std::int64_t offset);

  // Begins a new segment, unless the active one is empty.
  void Roll();

  // Whether a batch is of a transaction that was aborted.
  bool IsAborted(const StoredBatch& batch) const;

  // Whether a batch holds the last offset that its producer has written.
  bool IsLastOfProducer(const StoredBatch& batch) const;

  // The last one is the active one. Its owner may take batches and records out
  // of the others.
  std::vector<Segment>& segments() { return segments_; }
  const std::vector<Segment>& segments() const { return segments_; }

  // Compaction has seen everything below it.
  std::int64_t first_dirty() const;
  void set_first_dirty(std::int64_t offset) { first_dirty_ = offset; }

 private:
  struct OffsetRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };

  void AppendBatch(StoredBatch batch, const TopicSettings& settings);

  std::vector<Segment> segments_;
  std::int64_t low_ = 0;
  std::int64_t next_offset_ = 0;
  std::int64_t first_dirty_ = 0;
  // By producer: where its open transaction begins; what it has aborted; the
  // last offset of its records.
  std::map<std::int64_t, std::int64_t> open_;
  std::multimap<std::int64_t, OffsetRange> aborted_;
  std::map<std::int64_t, std::int64_t> last_of_producer_;
};

}  // namespace mayfly::testing_internal
