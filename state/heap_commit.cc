#include "state/heap_commit.h"

#include <optional>
#include <string_view>
#include <utility>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::state_internal {

absl::StatusOr<std::unique_ptr<HeapCommit>> HeapCommit::Begin(
    const std::string& path, CommitContents contents, bool sync) {
  MAYFLY_ASSIGN_OR_RETURN(SnapshotWriter writer,
                          SnapshotWriter::Create(path, contents.record));
  return std::unique_ptr<HeapCommit>(
      new HeapCommit(std::move(writer), std::move(contents), sync));
}

HeapCommit::HeapCommit(SnapshotWriter writer, CommitContents contents,
                       bool sync)
    : writer_(std::move(writer)),
      commit_(std::move(contents.commit)),
      states_(std::move(contents.states)),
      carried_(std::move(contents.carried)),
      snapshot_(contents.snapshot),
      sync_(sync) {
  for (const StateToSave& state : states_) {
    state.table->BeginSave(VisitorOf(state));
  }
  if (all_saved()) Seal();
}

HeapCommit::~HeapCommit() {
  for (const StateToSave& state : states_) state.table->EndSave();
}

std::size_t HeapCommit::NextCost() const {
  return all_saved() ? 0 : states_[state_].table->SegmentCost(segment_);
}

void HeapCommit::Step() {
  if (all_saved()) return;
  StateTable& table = *states_[state_].table;
  table.SaveSegment(segment_);
  // Segments are never removed, and new ones come last.
  if (++segment_ < table.segment_count()) return;
  table.EndSave();
  segment_ = 0;
  ++state_;
  if (all_saved()) Seal();
}

CommitProgress HeapCommit::progress() const {
  if (writer_.done()) return CommitProgress::kReady;
  return all_saved() ? CommitProgress::kWriting : CommitProgress::kSaving;
}

absl::Status HeapCommit::Finish() {
  while (progress() == CommitProgress::kSaving) Step();
  return writer_.Finish();
}

// Last, what the thread takes longest for: until then it keeps up with us.
void HeapCommit::Seal() {
  for (const std::uint32_t index : carried_) {
    writer_.CarryOver(index, *snapshot_);
  }
  writer_.Seal(commit_, sync_);
}

EntryVisitor HeapCommit::VisitorOf(const StateToSave& state) {
  const std::optional<StateTtlConfig>& ttl = state.spec->ttl;
  if (ttl && ttl->cleanup_full_snapshot()) return LiveVisitorOf(state);
  return [this, index = state.index](std::string_view key,
                                     std::string_view value) {
    writer_.Add(index, key, value);
  };
}

// Leaves out what has expired at the commit.
EntryVisitor HeapCommit::LiveVisitorOf(const StateToSave& state) {
  const TimestampMs commit_ms =
      state.spec->ttl->time_characteristic() == TimeCharacteristic::kEventTime
          ? commit_.event_clock_ms()
          : commit_.processing_clock_ms();
  const auto is_live = [rule = state.table->context().policy.rule,
                        commit_ms](const EntryView& entry) {
    return !rule.IsExpired(entry.timestamp_ms, commit_ms);
  };
  if (state.spec->kind != StateKind::kList) {
    return [this, is_live, index = state.index](std::string_view key,
                                                std::string_view value) {
      const std::optional<EntryView> entry = DecodeEntry(value);
      if (entry && is_live(*entry)) writer_.Add(index, key, value);
    };
  }
  return [this, is_live, index = state.index](std::string_view key,
                                              std::string_view list) {
    live_.clear();
    ListReader reader(list);
    while (const std::optional<EntryView> element = reader.Next()) {
      if (!is_live(*element)) continue;
      AppendListElement(element->timestamp_ms, element->bytes, live_);
    }
    if (!live_.empty()) writer_.Add(index, key, live_);
  };
}

}  // namespace mayfly::state_internal
