// A commit of the heap backend while it is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/commit_progress.h"
#include "mayfly/state/internal/state_spec.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/v1/state.pb.h"
#include "state/snapshot_file.h"

namespace mayfly::state_internal {

struct StateToSave {
  // Its place in the record.
  std::uint32_t index;
  const StateSpec* spec;
  StateTable* table;
};

// What a commit is to hold.
struct CommitContents {
  const v1::ShardRecord& record;
  v1::CommitRecord commit;
  std::vector<StateToSave> states;
  // Indices of states that nobody registered: what `snapshot` holds of them is
  // carried over. Null if there are none.
  std::vector<std::uint32_t> carried;
  const SnapshotReader* snapshot;
};

// Writes the states as they are at its beginning, step by step, while they go
// on changing.
// Threads: one.  Lifetime: the tables and the old snapshot's reader outlive it.
class HeapCommit {
 public:
  // Begins to replace the snapshot at `path`.
  // Errors: as FileError().
  static absl::StatusOr<std::unique_ptr<HeapCommit>> Begin(
      const std::string& path, CommitContents contents, bool sync);

  HeapCommit(const HeapCommit&) = delete;
  HeapCommit& operator=(const HeapCommit&) = delete;
  // Unless finished, all is as if it had not begun.
  ~HeapCommit();

  // About how many entries the next step writes at least, if so many are left;
  // 0 if nothing is left to it.
  std::size_t NextCost() const;

  // Writes the next segment of a table, or a part of it; returns how many
  // entries that were.
  std::size_t Step();

  // kReady also if something has failed.
  CommitProgress progress() const;

  // Writes what is left.
  // Errors: as SnapshotWriter::Finish(); the old snapshot is untouched.
  absl::Status Finish();

  // Of the file, once it is finished.
  std::uint32_t crc32c() const { return writer_.crc32c(); }

 private:
  HeapCommit(SnapshotWriter writer, CommitContents contents, bool sync);

  // Leaves out what has expired at the commit, if the state has its full
  // snapshots cleaned.
  EntryVisitor VisitorOf(const StateToSave& state,
                         const v1::StateRecord& record);
  bool all_saved() const { return state_ == states_.size(); }
  void Seal();

  SnapshotWriter writer_;
  const v1::CommitRecord commit_;
  const std::vector<StateToSave> states_;
  const std::vector<std::uint32_t> carried_;
  const SnapshotReader* const snapshot_;
  const bool sync_;
  // The state and the segment that the next step writes.
  std::size_t state_ = 0;
  std::size_t segment_ = 0;
};

}  // namespace mayfly::state_internal
