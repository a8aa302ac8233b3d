// The snapshot that the heap backend commits: all entries of all states in
// their stored form, in compressed and checksummed blocks.
// Format: state/FORMAT.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/v1/state.pb.h"

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

  // Completes the file and replaces the old one as one step.
  // Errors: as FileError(); the old snapshot is untouched.
  absl::Status Finish(const v1::CommitRecord& commit, bool sync);

 private:
  SnapshotWriter(int fd, std::string path);

  void FlushEntries();
  void WriteBlock(char tag, std::uint32_t state, std::string_view content);

  int fd_;
  std::string path_;
  absl::Status status_;
  std::uint32_t state_ = 0;
  std::uint64_t entries_ = 0;
  std::string block_;
};

// Reads a snapshot.  Threads: one.
class SnapshotReader {
 public:
  // Opens the file and checks all of it, checksums and counts.
  // Errors: kNotFound if there is none; kDataLoss if it is damaged or cut
  // short; as FileError().
  static absl::StatusOr<SnapshotReader> Open(const std::string& path);

  const v1::ShardRecord& record() const { return record_; }
  const v1::CommitRecord& commit() const { return footer_.commit(); }

  // Visits the entries of the state that is `state`-th in the record.
  // Errors: as Open().
  absl::Status VisitEntries(std::uint32_t state,
                            const EntryVisitor& visit) const;

 private:
  explicit SnapshotReader(std::string path) : path_(std::move(path)) {}

  std::string path_;
  v1::ShardRecord record_;
  v1::SnapshotFooter footer_;
};

}  // namespace mayfly::state_internal
