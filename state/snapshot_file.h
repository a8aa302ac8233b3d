// A snapshot of a shard in one file: all entries of all states in their stored
// form. The heap backend commits one; savepoints are made of them.
// Format: docs/savepoint-format.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/v1/state.pb.h"
#include "state/snapshot_block.h"

namespace mayfly::state_internal {

// Writes a snapshot beside the old one and puts it in its place at the end.
// Threads: one.
class SnapshotWriter {
 public:
  // Errors: as FileError().
  static absl::StatusOr<SnapshotWriter> Create(const std::string& path,
                                               const v1::ShardRecord& record);

  SnapshotWriter(SnapshotWriter&& other) noexcept;
  SnapshotWriter& operator=(SnapshotWriter&&) = delete;
  // Removes what was not finished.
  ~SnapshotWriter();

  // Adds an entry of the state that is `state`-th in the record. A write error
  // shows in Finish().
  void Add(std::uint32_t state, std::string_view key, std::string_view value);

  // The first error so far.
  const absl::Status& status() const { return status_; }

  // Completes the file and replaces the old one as one step.
  // Errors: as FileError(); the old snapshot is untouched.
  absl::Status Finish(const v1::CommitRecord& commit, bool sync);

 private:
  SnapshotWriter(int fd, std::string path);

  void FlushEntries();
  void Write(std::string_view bytes);

  int fd_;
  std::string path_;
  absl::Status status_;
  std::uint64_t offset_ = 0;
  v1::SnapshotFooter footer_;
  Block block_;
};

// Reads a snapshot.
// Threads: any, if it is not moved meanwhile.
class SnapshotReader {
 public:
  // Reads what the file says of itself.
  // Errors: kNotFound if there is none; kDataLoss if it is damaged or cut
  // short; as FileError().
  static absl::StatusOr<SnapshotReader> Open(const std::string& path);

  const v1::ShardRecord& record() const { return record_; }
  const v1::SnapshotFooter& footer() const { return footer_; }
  const v1::CommitRecord& commit() const { return footer_.commit(); }

  // Reads everything: checksums, framing and counts.
  // Errors: as Open().
  absl::Status Verify() const;

  // Visits the entries of the state that is `state`-th in the record.
  // Errors: as Open().
  absl::Status VisitEntries(std::uint32_t state,
                            const EntryVisitor& visit) const;

  // The same for one of its blocks, of footer().states(state).blocks().
  absl::Status VisitBlock(std::uint32_t state, int block,
                          const EntryVisitor& visit) const;

 private:
  explicit SnapshotReader(std::string path) : path_(std::move(path)) {}

  std::string path_;
  v1::ShardRecord record_;
  v1::SnapshotFooter footer_;
};

}  // namespace mayfly::state_internal
