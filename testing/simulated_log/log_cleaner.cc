#include "testing/simulated_log/log_cleaner.h"

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mayfly::testing_internal {
namespace {

// Where compaction must stop: at the segment of the first transaction that is
// open, at the first one that is too young, at the active one.
std::int64_t FirstUncleanable(const PartitionLog& log,
                              const TopicSettings& settings,
                              std::int64_t now_ms) {
  const std::vector<Segment>& segments = log.segments();
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segments[i + 1].base_offset <= log.first_dirty()) continue;
    const bool young =
        settings.min_compaction_lag_ms > 0 && !segment.batches.empty() &&
        segment.max_timestamp_ms() > now_ms - settings.min_compaction_lag_ms;
    if (young || log.last_stable() < segments[i + 1].base_offset) {
      return segment.base_offset;
    }
  }
  return segments.back().base_offset;
}

bool IsDue(const PartitionLog& log, std::int64_t end,
           const TopicSettings& settings, std::int64_t now_ms) {
  std::int64_t clean_bytes = 0;
  std::int64_t dirty_bytes = 0;
  bool overdue = false;
  for (const Segment& segment : log.segments()) {
    if (segment.base_offset >= end) break;
    if (segment.base_offset < log.first_dirty()) {
      clean_bytes += segment.bytes();
      continue;
    }
    if (dirty_bytes == 0 && !segment.batches.empty() &&
        settings.max_compaction_lag_ms !=
            std::numeric_limits<std::int64_t>::max()) {
      overdue = now_ms - segment.first_timestamp_ms() >
                settings.max_compaction_lag_ms;
    }
    dirty_bytes += segment.bytes();
  }
  if (dirty_bytes == 0) return false;
  const double ratio = static_cast<double>(dirty_bytes) /
                       static_cast<double>(clean_bytes + dirty_bytes);
  return overdue || ratio > settings.min_cleanable_dirty_ratio;
}

// One pass over the segments below `end_`.
class Pass {
 public:
  Pass(PartitionLog& log, std::int64_t end, const TopicSettings& settings,
       std::int64_t now_ms)
      : log_(log), end_(end), settings_(settings), now_ms_(now_ms) {}

  void Run() {
    FindNewest();
    std::vector<Segment>& segments = log_.segments();
    for (Segment& segment : segments) {
      if (segment.base_offset >= end_) break;
      std::erase_if(segment.batches,
                    [&](StoredBatch& batch) { return !Keep(batch); });
    }
    std::erase_if(segments, [&](const Segment& segment) {
      return segment.base_offset < end_ && segment.batches.empty();
    });
    log_.set_first_dirty(end_);
  }

 private:
  void FindNewest() {
    for (const Segment& segment : log_.segments()) {
      if (segment.base_offset >= end_) break;
      for (const StoredBatch& batch : segment.batches) {
        if (batch.last_offset < log_.first_dirty() || log_.IsAborted(batch)) {
          continue;
        }
        for (const StoredRecord& record : batch.records) {
          if (record.key) newest_[*record.key] = record.offset;
        }
      }
    }
  }

  // Takes out of a batch what is not kept of it, and says whether to keep the
  // batch. The last one stays in any case, though it be empty, or the offset
  // after it would be forgotten; so does the last one of each producer, for its
  // sequence number.
  bool Keep(StoredBatch& batch) {
    bool drop_all = log_.IsAborted(batch);
    bool marker_may_go = false;
    if (batch.is_marker()) {
      // While there is something of its transaction it must stay.
      marker_may_go = seen_transactions_.erase(batch.producer_id) == 0;
      drop_all = marker_may_go && HorizonIsPast(batch);
    } else if (batch.transactional) {
      seen_transactions_.insert(batch.producer_id);
    }
    bool has_tombstones = false;
    std::erase_if(batch.records, [&](const StoredRecord& record) {
      if (drop_all || !Keep(batch, record)) return true;
      has_tombstones = has_tombstones || !record.value;
      return false;
    });
    if ((has_tombstones || marker_may_go) && !batch.delete_horizon_ms) {
      batch.delete_horizon_ms = now_ms_ + settings_.delete_retention_ms;
    }
    if (batch.last_offset + 1 == end_ || log_.IsLastOfProducer(batch)) {
      return true;
    }
    return !drop_all && (batch.is_marker() || !batch.records.empty());
  }

  bool Keep(const StoredBatch& batch, const StoredRecord& record) const {
    if (!record.key) return false;
    const auto newest = newest_.find(*record.key);
    if (newest != newest_.end() && record.offset < newest->second) return false;
    return record.value || !HorizonIsPast(batch);
  }

  bool HorizonIsPast(const StoredBatch& batch) const {
    return batch.delete_horizon_ms && *batch.delete_horizon_ms <= now_ms_;
  }

  PartitionLog& log_;
  const std::int64_t end_;
  const TopicSettings& settings_;
  const std::int64_t now_ms_;
  std::map<std::string, std::int64_t> newest_;
  // Producers of which data of a transaction was met whose end was not yet.
  std::set<std::int64_t> seen_transactions_;
};

}  // namespace

void Compact(PartitionLog& log, const TopicSettings& settings,
             std::int64_t now_ms) {
  if (!settings.compact) return;
  const std::int64_t end = FirstUncleanable(log, settings, now_ms);
  if (IsDue(log, end, settings, now_ms)) {
    Pass(log, end, settings, now_ms).Run();
  }
}

void ApplyRetention(PartitionLog& log, const TopicSettings& settings,
                    std::int64_t now_ms) {
  if (!settings.remove || settings.retention_ms < 0) return;
  const auto is_due = [&](const Segment& segment) {
    return !segment.batches.empty() &&
           now_ms - segment.max_timestamp_ms() > settings.retention_ms;
  };
  std::size_t due = 0;
  while (due < log.segments().size() && is_due(log.segments()[due])) ++due;
  if (due == log.segments().size()) log.Roll();
  if (due > 0) log.RemoveBelow(log.segments()[due].base_offset);
}

}  // namespace mayfly::testing_internal
