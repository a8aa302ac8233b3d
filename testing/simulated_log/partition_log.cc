#include "testing/simulated_log/partition_log.h"

#include <algorithm>

namespace mayfly::testing_internal {
namespace {

// The head of a batch, and about what a record has besides its bytes.
// Source: Kafka, format of record batches 2.
constexpr std::int64_t kBatchHeadBytes = 61;
constexpr std::size_t kRecordHeadBytes = 8;

}  // namespace

std::size_t StoredRecord::bytes() const {
  std::size_t bytes = kRecordHeadBytes;
  if (key) bytes += key->size();
  if (value) bytes += value->size();
  for (const auto& [name, header_value] : headers) {
    bytes += name.size() + (header_value ? header_value->size() : 0);
  }
  return bytes;
}

std::int64_t StoredBatch::bytes() const {
  std::int64_t bytes = kBatchHeadBytes;
  for (const StoredRecord& record : records) {
    bytes += static_cast<std::int64_t>(record.bytes());
  }
  return bytes;
}

std::int64_t Segment::bytes() const {
  std::int64_t bytes = 0;
  for (const StoredBatch& batch : batches) bytes += batch.bytes();
  return bytes;
}

std::int64_t Segment::first_timestamp_ms() const {
  return batches.front().max_timestamp_ms;
}

std::int64_t Segment::max_timestamp_ms() const {
  std::int64_t max_ms = 0;
  for (const StoredBatch& batch : batches) {
    max_ms = std::max(max_ms, batch.max_timestamp_ms);
  }
  return max_ms;
}

void PartitionLog::Append(std::vector<StoredRecord> records,
                          std::int64_t producer_id, bool transactional,
                          const TopicSettings& settings) {
  StoredBatch batch;
  batch.base_offset = next_offset_;
  batch.producer_id = producer_id;
  batch.transactional = transactional;
  for (StoredRecord& record : records) {
    record.offset = next_offset_++;
    batch.max_timestamp_ms =
        std::max(batch.max_timestamp_ms, record.timestamp_ms);
  }
  batch.last_offset = next_offset_ - 1;
  batch.records = std::move(records);
  if (transactional) open_.try_emplace(producer_id, batch.base_offset);
  last_of_producer_[producer_id] = batch.last_offset;
  AppendBatch(std::move(batch), settings);
}

void PartitionLog::AppendMarker(BatchKind kind, std::int64_t producer_id,
                                std::int64_t now_ms,
                                const TopicSettings& settings) {
  StoredBatch batch;
  batch.base_offset = batch.last_offset = next_offset_++;
  batch.kind = kind;
  batch.producer_id = producer_id;
  batch.transactional = true;
  batch.max_timestamp_ms = now_ms;
  if (const auto open = open_.find(producer_id); open != open_.end()) {
    if (kind == BatchKind::kAbortMarker) {
      aborted_.insert({producer_id, {open->second, batch.last_offset}});
    }
    open_.erase(open);
  }
  AppendBatch(std::move(batch), settings);
}

// Rolls only here: a partition to which nothing is written keeps its active
// segment for ever. Time is that of the records.
void PartitionLog::AppendBatch(StoredBatch batch,
                               const TopicSettings& settings) {
  const Segment& active = segments_.back();
  if (!active.batches.empty()) {
    const std::int64_t age_ms =
        batch.max_timestamp_ms - active.first_timestamp_ms();
    const std::int64_t age_max_ms =
        settings.compact
            ? std::min(settings.segment_ms, settings.max_compaction_lag_ms)
            : settings.segment_ms;
    if (age_ms > age_max_ms ||
        active.bytes() + batch.bytes() > settings.segment_bytes) {
      segments_.push_back({batch.base_offset, {}});
    }
  }
  segments_.back().batches.push_back(std::move(batch));
}

void PartitionLog::Roll() {
  if (!segments_.back().batches.empty()) {
    segments_.push_back({next_offset_, {}});
  }
}

std::int64_t PartitionLog::last_stable() const {
  std::int64_t offset = next_offset_;
  for (const auto& [producer, first] : open_) offset = std::min(offset, first);
  return std::max(offset, low_);
}

std::int64_t PartitionLog::first_dirty() const {
  return std::max(first_dirty_, low_);
}

bool PartitionLog::IsAborted(const StoredBatch& batch) const {
  if (!batch.transactional || batch.is_marker()) return false;
  const auto [begin, end] = aborted_.equal_range(batch.producer_id);
  return std::any_of(begin, end, [&](const auto& range) {
    return range.second.first <= batch.base_offset &&
           batch.last_offset <= range.second.last;
  });
}

bool PartitionLog::IsLastOfProducer(const StoredBatch& batch) const {
  const auto last = last_of_producer_.find(batch.producer_id);
  return !batch.is_marker() && last != last_of_producer_.end() &&
         last->second == batch.last_offset;
}

const StoredRecord* PartitionLog::Next(std::int64_t& position,
                                       IsolationLevel isolation) const {
  const std::int64_t limit = end(isolation);
  // The last segment that begins at `position` or below it, or the first one.
  auto segment = std::upper_bound(
      segments_.begin(), segments_.end(), position,
      [](std::int64_t at, const Segment& s) { return at < s.base_offset; });
  if (segment != segments_.begin()) --segment;
  for (; segment != segments_.end(); ++segment) {
    auto batch =
        std::lower_bound(segment->batches.begin(), segment->batches.end(),
                         position, [](const StoredBatch& b, std::int64_t at) {
                           return b.last_offset < at;
                         });
    for (; batch != segment->batches.end(); ++batch) {
      if (batch->base_offset >= limit) break;
      if (isolation == IsolationLevel::kReadCommitted && IsAborted(*batch)) {
        continue;
      }
      for (const StoredRecord& record : batch->records) {
        if (record.offset < position) continue;
        position = record.offset + 1;
        return &record;
      }
    }
  }
  position = std::max(position, limit);
  return nullptr;
}

void PartitionLog::RemoveBelow(std::int64_t offset) {
  low_ = offset;
  while (segments_.size() > 1 && segments_[1].base_offset <= offset) {
    segments_.erase(segments_.begin());
  }
}

}  // namespace mayfly::testing_internal
