#include "state/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "mayfly/serde/internal/varint.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::state_internal {
namespace {

// A block is closed when its content reaches this.
constexpr std::size_t kBlockContentBytes = std::size_t{256} << 10;

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

absl::StatusOr<SnapshotWriter> SnapshotWriter::Create(
    const std::string& path, const v1::ShardRecord& record) {
  const std::string temporary = TemporaryOf(path);
  const int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError(errno, "create", temporary);
  SnapshotWriter writer(fd, path);
  writer.Write(SnapshotHeader());
  writer.Write(EncodeBlock(
      {.tag = BlockTag::kRecord, .content = record.SerializeAsString()}));
  for (int i = 0; i < record.states_size(); ++i) writer.footer_.add_states();
  return writer;
}

SnapshotWriter::SnapshotWriter(int fd, std::string path)
    : fd_(fd), path_(std::move(path)), block_{.tag = BlockTag::kEntries} {}

SnapshotWriter::SnapshotWriter(SnapshotWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      status_(std::move(other.status_)),
      offset_(other.offset_),
      footer_(std::move(other.footer_)),
      block_(std::move(other.block_)) {}

SnapshotWriter::~SnapshotWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(TemporaryOf(path_).c_str());
}

void SnapshotWriter::Add(std::uint32_t state, std::string_view key,
                         std::string_view value) {
  if (state != block_.state || block_.content.size() >= kBlockContentBytes) {
    FlushEntries();
  }
  block_.state = state;
  serde_internal::AppendLength(key.size(), block_.content);
  block_.content.append(key);
  serde_internal::AppendLength(value.size(), block_.content);
  block_.content.append(value);
  v1::SnapshotState& counts = *footer_.mutable_states(static_cast<int>(state));
  counts.set_entries(counts.entries() + 1);
  counts.set_bytes(counts.bytes() + key.size() + value.size());
}

absl::Status SnapshotWriter::Finish(const v1::CommitRecord& commit, bool sync) {
  FlushEntries();
  *footer_.mutable_commit() = commit;
  const std::string trailer = SnapshotTrailer(offset_);
  Write(EncodeBlock(
      {.tag = BlockTag::kFooter, .content = footer_.SerializeAsString()}));
  Write(trailer);
  MAYFLY_RETURN_IF_ERROR(status_);
  const std::string temporary = TemporaryOf(path_);
  if (sync && ::fsync(fd_) != 0) return FileError(errno, "sync", temporary);
  if (::close(std::exchange(fd_, -1)) != 0) {
    return FileError(errno, "write", temporary);
  }
  return RenameFile(temporary, path_, sync);
}

void SnapshotWriter::FlushEntries() {
  if (block_.content.empty()) return;
  footer_.mutable_states(static_cast<int>(block_.state))->add_blocks(offset_);
  Write(EncodeBlock(block_));
  block_.content.clear();
}

void SnapshotWriter::Write(std::string_view bytes) {
  if (status_.ok()) status_ = WriteFully(fd_, bytes, TemporaryOf(path_));
  offset_ += bytes.size();
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
