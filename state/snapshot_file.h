// A snapshot of a shard in one file: all entries of all states in their stored
// form. The heap backend commits one; savepoints are made of them.
// Format: docs/savepoint-format.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/v1/state.pb.h"
#include "state/entry_block.h"
#include "state/writer_thread.h"

namespace mayfly::state_internal {

class SnapshotReader;

// Writes a snapshot beside the old one and puts it in its place at the end.
// What it is given is compressed and written on a thread of its own.
// Threads: one.
class SnapshotWriter {
 public:
  // Errors: as FileError().
  static absl::StatusOr<SnapshotWriter> Create(const std::string& path,
                                               const v1::ShardRecord& record);

  SnapshotWriter(SnapshotWriter&&) noexcept;
  SnapshotWriter& operator=(SnapshotWriter&&) = delete;
  // Removes what was not finished.
  ~SnapshotWriter();

  // Adds an entry of the state that is `state`-th in the record. Waits for the
  // thread if that is far behind. A write error shows in Finish().
  void Add(std::uint32_t state, std::string_view key, std::string_view value);

  // Adds all entries that another snapshot holds of the state, which is
  // `state`-th in both records. Reading them is the thread's work, too.
  // Lifetime: `from` is read until Finish() returns.
  void CarryOver(std::uint32_t state, const SnapshotReader& from);

  // Completes the file, which stays beside the old one. Nothing can be added.
  void Seal(const v1::CommitRecord& commit, bool sync);

  // The first error that has shown so far: what is added after it is in vain.
  absl::Status status();

  // Whether Finish() need not wait: all is written, or something failed.
  bool done() const;

  // Replaces the old snapshot by the sealed one, as one step.
  // Errors: the first one of writing, as FileError(), or of reading what was
  // carried over; the old snapshot is untouched.
  absl::Status Finish();

  // Of the whole file, once it is finished.
  std::uint32_t crc32c() const;

 private:
  class Output;

  SnapshotWriter(std::unique_ptr<Output> output, int states);

  void Flush(std::uint32_t state);

  // Touched by the thread alone between Create() and Finish().
  std::unique_ptr<Output> output_;
  std::unique_ptr<WriterThread> thread_;
  // What the thread has not been given yet; of each state, since entries of
  // different states come in turns.
  std::vector<EntryBlock> blocks_;
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
