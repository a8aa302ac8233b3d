#include "state/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "mayfly/serde/internal/varint.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/crc32c.h"
#include "mayfly/state/internal/file_io.h"
#include "state/snapshot_block.h"

namespace mayfly::state_internal {
namespace {

std::string TemporaryOf(const std::string& path) { return path + ".tmp"; }

// Visits the entries of a block and adds them to `counts`.
absl::Status VisitContent(const BlockReader& reader, std::string_view content,
                          const EntryVisitor& visit,
                          v1::SnapshotState& counts) {
  while (!content.empty()) {
    const auto key = serde_internal::ReadLengthPrefixed(content);
    const auto value =
        key ? serde_internal::ReadLengthPrefixed(content) : std::nullopt;
    if (!value) return reader.Damaged("an entry has no framing");
    visit(*key, *value);
    counts.set_entries(counts.entries() + 1);
    counts.set_bytes(counts.bytes() + key->size() + value->size());
  }
  return absl::OkStatus();
}

}  // namespace

// The file itself.
class SnapshotWriter::Output {
 public:
  Output(int fd, std::string path, const v1::ShardRecord& record)
      : fd_(fd), path_(std::move(path)) {
    for (int i = 0; i < record.states_size(); ++i) footer_.add_states();
    Write(SnapshotHeader());
    Write(EncodeBlock(
        {.tag = BlockTag::kRecord, .content = record.SerializeAsString()}));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ >= 0) ::close(fd_);
    if (!in_place_) ::unlink(TemporaryOf(path_).c_str());
  }

  void WriteEntries(std::uint32_t state, const EntryBlock& block) {
    if (!status_.ok()) return;
    v1::SnapshotState& counts =
        *footer_.mutable_states(static_cast<int>(state));
    counts.set_entries(counts.entries() + block.entries());
    counts.set_bytes(counts.bytes() + block.bytes());
    counts.add_blocks(offset_);
    Write(EncodeBlock({.tag = BlockTag::kEntries,
                       .state = state,
                       .content = block.content()}));
  }

  void CarryOver(std::uint32_t state, const SnapshotReader& from) {
    if (!status_.ok()) return;
    EntryBlock block;
    const absl::Status read = from.VisitEntries(
        state, [&](std::string_view key, std::string_view value) {
          if (block.full()) {
            WriteEntries(state, block);
            block.Clear();
          }
          block.Add(key, value);
        });
    if (!block.empty()) WriteEntries(state, block);
    Note(read);
  }

  void Seal(const v1::CommitRecord& commit, bool sync) {
    *footer_.mutable_commit() = commit;
    const std::string trailer = SnapshotTrailer(offset_);
    Write(EncodeBlock(
        {.tag = BlockTag::kFooter, .content = footer_.SerializeAsString()}));
    Write(trailer);
    sync_ = sync;
    if (status_.ok()) Note(Close());
    done_ = true;
  }

  absl::Status MoveInPlace() {
    MAYFLY_RETURN_IF_ERROR(status_);
    MAYFLY_RETURN_IF_ERROR(RenameFile(TemporaryOf(path_), path_, sync_));
    in_place_ = true;
    return absl::OkStatus();
  }

  const absl::Status& status() const { return status_; }

  std::uint32_t crc32c() const { return crc32c_; }

  // On any thread.
  bool done() const { return done_; }

 private:
  void Write(std::string_view bytes) {
    if (!status_.ok()) return;
    Note(WriteFully(fd_, bytes, TemporaryOf(path_)));
    offset_ += bytes.size();
    crc32c_ = ExtendCrc32c(crc32c_, bytes);
  }

  absl::Status Close() {
    if (sync_ && ::fsync(fd_) != 0) {
      return FileError(errno, "sync", TemporaryOf(path_));
    }
    // Or the rename would begin to write all of it, on the shard's thread: file
    // systems do so when one file replaces another.
    ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (::close(std::exchange(fd_, -1)) != 0) {
      return FileError(errno, "write", TemporaryOf(path_));
    }
    return absl::OkStatus();
  }

  // The first error is the one that counts.
  void Note(const absl::Status& status) {
    status_.Update(status);
    if (!status_.ok()) done_ = true;
  }

  int fd_;
  const std::string path_;
  absl::Status status_;
  std::uint64_t offset_ = 0;
  std::uint32_t crc32c_ = 0;
  v1::SnapshotFooter footer_;
  bool sync_ = false;
  bool in_place_ = false;
  std::atomic<bool> done_ = false;
};

absl::StatusOr<SnapshotWriter> SnapshotWriter::Create(
    const std::string& path, const v1::ShardRecord& record) {
  const std::string temporary = TemporaryOf(path);
  const int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError(errno, "create", temporary);
  SnapshotWriter writer(std::make_unique<Output>(fd, path, record),
                        record.states_size());
  writer.thread_ = std::make_unique<WriterThread>();
  return writer;
}

SnapshotWriter::SnapshotWriter(std::unique_ptr<Output> output, int states)
    : output_(std::move(output)), blocks_(static_cast<std::size_t>(states)) {}

SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;

SnapshotWriter::~SnapshotWriter() = default;

void SnapshotWriter::Add(std::uint32_t state, std::string_view key,
                         std::string_view value) {
  if (blocks_[state].full()) Flush(state);
  blocks_[state].Add(key, value);
}

void SnapshotWriter::CarryOver(std::uint32_t state,
                               const SnapshotReader& from) {
  thread_->Add(0, [output = output_.get(), state, &from] {
    output->CarryOver(state, from);
  });
}

void SnapshotWriter::Seal(const v1::CommitRecord& commit, bool sync) {
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) Flush(i);
  thread_->Add(0, [output = output_.get(), commit, sync] {
    output->Seal(commit, sync);
  });
}

absl::Status SnapshotWriter::status() {
  if (!done()) return absl::OkStatus();
  thread_->Drain();
  return output_->status();
}

bool SnapshotWriter::done() const { return output_->done(); }

absl::Status SnapshotWriter::Finish() {
  thread_->Drain();
  return output_->MoveInPlace();
}

std::uint32_t SnapshotWriter::crc32c() const { return output_->crc32c(); }

void SnapshotWriter::Flush(std::uint32_t state) {
  EntryBlock block = std::exchange(blocks_[state], EntryBlock());
  if (block.empty()) return;
  const std::size_t bytes = block.content().size();
  thread_->Add(bytes,
               [output = output_.get(), state, block = std::move(block)] {
                 output->WriteEntries(state, block);
               });
}

absl::StatusOr<SnapshotReader> SnapshotReader::Open(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(BlockReader blocks, BlockReader::Open(path));
  SnapshotReader snapshot(path);
  MAYFLY_ASSIGN_OR_RETURN(Block block, blocks.Next());
  if (block.tag != BlockTag::kRecord ||
      !snapshot.record_.ParseFromString(block.content)) {
    return blocks.Damaged("its first block is not a record");
  }
  MAYFLY_RETURN_IF_ERROR(blocks.SeekTo(blocks.footer_offset()));
  MAYFLY_ASSIGN_OR_RETURN(block, blocks.Next());
  if (block.tag != BlockTag::kFooter ||
      !snapshot.footer_.ParseFromString(block.content)) {
    return blocks.Damaged("its last block is not a footer");
  }
  if (blocks.offset() != blocks.footer_end()) {
    return blocks.Damaged("something follows its footer");
  }
  if (snapshot.footer_.states_size() != snapshot.record_.states_size()) {
    return blocks.Damaged("it does not say what it holds of each state");
  }
  return snapshot;
}

absl::Status SnapshotReader::Verify() const {
  MAYFLY_ASSIGN_OR_RETURN(BlockReader blocks, BlockReader::Open(path_));
  MAYFLY_RETURN_IF_ERROR(blocks.Next().status());
  v1::SnapshotFooter found;
  for (int i = 0; i < record_.states_size(); ++i) found.add_states();
  while (blocks.offset() < blocks.footer_offset()) {
    const std::uint64_t offset = blocks.offset();
    MAYFLY_ASSIGN_OR_RETURN(const Block block, blocks.Next());
    if (block.tag != BlockTag::kEntries ||
        block.state >= static_cast<std::uint32_t>(found.states_size())) {
      return blocks.Damaged("a block is out of place");
    }
    v1::SnapshotState& counts =
        *found.mutable_states(static_cast<int>(block.state));
    counts.add_blocks(offset);
    MAYFLY_RETURN_IF_ERROR(VisitContent(
        blocks, block.content, [](std::string_view, std::string_view) {},
        counts));
  }
  if (footer_.has_commit()) *found.mutable_commit() = commit();
  if (blocks.offset() != blocks.footer_offset() ||
      found.SerializeAsString() != footer_.SerializeAsString()) {
    return blocks.Damaged("it does not hold what its footer says");
  }
  return absl::OkStatus();
}

absl::Status SnapshotReader::VisitEntries(std::uint32_t state,
                                          const EntryVisitor& visit) const {
  const int blocks = footer_.states(static_cast<int>(state)).blocks_size();
  for (int i = 0; i < blocks; ++i) {
    MAYFLY_RETURN_IF_ERROR(VisitBlock(state, i, visit));
  }
  return absl::OkStatus();
}

absl::Status SnapshotReader::VisitBlock(std::uint32_t state, int block,
                                        const EntryVisitor& visit) const {
  MAYFLY_ASSIGN_OR_RETURN(BlockReader blocks, BlockReader::Open(path_));
  MAYFLY_RETURN_IF_ERROR(
      blocks.SeekTo(footer_.states(static_cast<int>(state)).blocks(block)));
  MAYFLY_ASSIGN_OR_RETURN(const Block found, blocks.Next());
  if (found.tag != BlockTag::kEntries || found.state != state) {
    return blocks.Damaged("a block is not where its footer says");
  }
  v1::SnapshotState counts;
  return VisitContent(blocks, found.content, visit, counts);
}

}  // namespace mayfly::state_internal
