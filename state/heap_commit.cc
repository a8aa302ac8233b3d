#include "state/heap_commit.h"

#include <optional>
#include <string_view>
#include <utility>

#include "mayfly/serde/status_macros.h"
#include "state/expiry_cut.h"

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
    const v1::StateRecord& record =
        contents.record.states(static_cast<int>(state.index));
    state.table->BeginSave(VisitorOf(state, record));
  }
  if (all_saved()) Seal();
}

HeapCommit::~HeapCommit() {
  for (const StateToSave& state : states_) state.table->EndSave();
}

std::size_t HeapCommit::NextCost() const {
  return all_saved() ? 0 : states_[state_].table->SegmentCost(segment_);
}

std::size_t HeapCommit::Step() {
  if (all_saved()) return 0;
  // All of a segment of single entries; of lists and maps there may be many in
  // each of a segment's keys.
  constexpr std::size_t kEntriesMax = kSegmentOfEntries;
  StateTable& table = *states_[state_].table;
  const SegmentSave saved = table.SaveSegment(segment_, kEntriesMax);
  // Segments are never removed, and new ones come last.
  if (!saved.complete || ++segment_ < table.segment_count()) {
    return saved.entries;
  }
  table.EndSave();
  segment_ = 0;
  ++state_;
  if (all_saved()) Seal();
  return saved.entries;
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

EntryVisitor HeapCommit::VisitorOf(const StateToSave& state,
                                   const v1::StateRecord& record) {
  const std::optional<StateTtlConfig>& ttl = state.spec->ttl;
  const std::uint32_t index = state.index;
  if (!ttl || !ttl->cleanup_full_snapshot()) {
    return [this, index](std::string_view key, std::string_view value) {
      writer_.Add(index, key, value);
    };
  }
  const TimestampMs commit_ms =
      ttl->time_characteristic() == TimeCharacteristic::kEventTime
          ? commit_.event_clock_ms()
          : commit_.processing_clock_ms();
  return [this, index, cut = ExpiryCut(record, commit_ms)](
             std::string_view key, std::string_view value) mutable {
    const auto live = cut.Keep(value);
    if (live) writer_.Add(index, key, *live);
  };
}

}  // namespace mayfly::state_internal
