#include "mayfly/state/internal/state_sweep.h"

#include <algorithm>
#include <map>
#include <optional>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::state_internal {
namespace {

class HeapSweep final : public StateSweep {
 public:
  explicit HeapSweep(StateTable* table) : table_(table) {}

  std::size_t NextCost() const override {
    return table_->SegmentCost(cursor_ % table_->segment_count());
  }

  absl::StatusOr<SweepCounts> Step(TimestampMs purge_ms) override {
    // Segments are never removed, and new ones come last.
    const std::size_t segment = cursor_++ % table_->segment_count();
    return table_->SweepSegment(segment, purge_ms);
  }

  void BeginRound() override { round_began_ = cursor_; }
  bool round_done() const override {
    return cursor_ - round_began_ >= table_->segment_count();
  }

  // The table is all there is.
  void WriteChanges(ChangeWriter&) const override {}
  void MarkCommitted() override {}

 private:
  StateTable* const table_;
  std::size_t cursor_ = 0;
  std::size_t round_began_ = 0;
};

class StoreSweep final : public StateSweep {
 public:
  StoreSweep(StateTable* table, StateKind kind)
      : table_(table), rule_(table->context().policy.rule), kind_(kind) {}

  std::size_t NextCost() const override { return kStepRecords; }

  absl::StatusOr<SweepCounts> Step(TimestampMs purge_ms) override {
    SweepCounts counts;
    SweepTable(purge_ms);
    const auto scan = table_->context().store->ScanFrom(cursor_);
    for (std::size_t records = 0; scan->Valid(); scan->Next()) {
      if (++records > kStepRecords) {
        cursor_ = scan->key();
        return counts;
      }
      if (kind_ == StateKind::kList) {
        SweepList(*scan, purge_ms, counts);
      } else {
        SweepEntry(*scan, purge_ms, counts);
      }
    }
    cursor_.clear();
    // Behind what cannot be read nothing is reached; what is before it is.
    MAYFLY_RETURN_IF_ERROR(scan->status());
    ++times_round_;
    return counts;
  }

  void BeginRound() override {
    round_began_ = cursor_;
    times_round_ = 0;
    segments_swept_ = 0;
  }
  bool round_done() const override {
    // Steps may never stop behind the key where the round began, if what was
    // there is gone; twice round is more than once.
    const bool round =
        times_round_ > 1 || (times_round_ == 1 && cursor_ >= round_began_);
    return round && segments_swept_ >= table_->segment_count();
  }

  void WriteChanges(ChangeWriter& writer) const override {
    for (const auto& [key, list] : changes_) {
      if (list) {
        writer.Put(key, *list);
      } else {
        writer.Delete(key);
      }
    }
  }
  void MarkCommitted() override { changes_.clear(); }

 private:
  // Enough that seeking to the cursor costs little beside it.
  static constexpr std::size_t kStepRecords = 1024;

  // What lies in the table in front of the store is as stored as the rest.
  void SweepTable(TimestampMs purge_ms) {
    ++segments_swept_;
    table_->SweepSegment(segment_cursor_++ % table_->segment_count(), purge_ms);
  }

  bool IsExpired(TimestampMs timestamp_ms, TimestampMs purge_ms) const {
    return rule_.IsExpired(timestamp_ms, purge_ms);
  }

  void SweepEntry(const ByteStore::Scan& scan, TimestampMs purge_ms,
                  SweepCounts& counts) {
    ++counts.checked;
    const auto entry = DecodeEntry(scan.value(), EntryFormat::kStamped);
    // What cannot be read is kept, for a reader to report.
    if (!entry || !IsExpired(entry->timestamp_ms, purge_ms)) return;
    if (!AddChange(scan.key(), std::nullopt)) return;
    ++counts.removed;
    counts.bytes += scan.key().size() + scan.value().size();
  }

  void SweepList(const ByteStore::Scan& scan, TimestampMs purge_ms,
                 SweepCounts& counts) {
    std::string live;
    ListReader reader(scan.value(), EntryFormat::kStamped);
    std::uint64_t expired = 0;
    while (const auto element = reader.Next()) {
      ++counts.checked;
      if (IsExpired(element->timestamp_ms, purge_ms)) {
        ++expired;
      } else {
        AppendListElement(element->timestamp_ms, element->bytes, live);
      }
    }
    if (reader.malformed()) return;
    // Rewriting a list for each element that expires would write a long one
    // over and over.
    if (live.size() * 2 > scan.value().size()) return;
    // Of a list that merging has left empty nobody knows how many there were.
    const std::uint64_t removed =
        live.empty() ? std::max<std::uint64_t>(expired, 1) : expired;
    const std::size_t bytes = scan.value().size() - live.size() +
                              (live.empty() ? scan.key().size() : 0);
    const bool changed =
        AddChange(scan.key(),
                  live.empty() ? std::nullopt : std::optional(std::move(live)));
    if (!changed) return;
    counts.removed += removed;
    counts.bytes += bytes;
  }

  // False if the key has been found before, since the last commit.
  bool AddChange(std::string_view key, std::optional<std::string> list) {
    constexpr std::size_t kNodeBytes = 96;
    const std::size_t bytes =
        key.size() + (list ? list->size() : 0) + kNodeBytes;
    const bool added =
        changes_.insert_or_assign(std::string(key), std::move(list)).second;
    if (added) table_->context().memory->changed += bytes;
    return added;
  }

  StateTable* const table_;
  const ExpiryRule rule_;
  const StateKind kind_;
  // The key at which the next step begins.
  std::string cursor_;
  std::string round_began_;
  int times_round_ = 0;
  std::size_t segment_cursor_ = 0;
  std::size_t segments_swept_ = 0;
  // Keys to delete, and lists of which only a part goes.
  std::map<std::string, std::optional<std::string>> changes_;
};

}  // namespace

std::unique_ptr<StateSweep> MakeHeapSweep(StateTable* table) {
  return std::make_unique<HeapSweep>(table);
}

std::unique_ptr<StateSweep> MakeStoreSweep(StateTable* table, StateKind kind) {
  return std::make_unique<StoreSweep>(table, kind);
}

}  // namespace mayfly::state_internal
