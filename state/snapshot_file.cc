#include "state/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/varint.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::state_internal {
namespace {

constexpr std::string_view kMagic = "MAYFLYS1";
constexpr char kRecordTag = 'R';
constexpr char kEntriesTag = 'E';
constexpr char kFooterTag = 'F';
constexpr std::size_t kBlockHeaderBytes = 9;
// Tag and state; they stand before the content too, under its checksum.
constexpr std::size_t kBlockIdentityBytes = 5;
// A block is closed when its content reaches this.
constexpr std::size_t kBlockContentBytes = std::size_t{256} << 10;
constexpr int kCompressionLevel = 1;

void AppendLittleEndian(std::uint32_t value, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

std::uint32_t ReadLittleEndian(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

// One zstd frame with a checksum of its content.
std::string Compress(std::string_view content) {
  static thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>
      context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel,
                         kCompressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  // Cannot fail: the bound leaves room for the worst case.
  frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(),
                              content.data(), content.size()));
  return frame;
}

struct Block {
  char tag = 0;
  std::uint32_t state = 0;
  std::string content;
};

// Reads blocks one after another.
class BlockReader {
 public:
  static absl::StatusOr<BlockReader> Open(const std::string& path) {
    std::unique_ptr<std::FILE, decltype(&std::fclose)> file(
        std::fopen(path.c_str(), "rbe"), &std::fclose);
    if (file == nullptr) return FileError(errno, "open", path);
    BlockReader reader(path, std::move(file));
    std::array<char, kMagic.size()> magic{};
    MAYFLY_RETURN_IF_ERROR(reader.Read(magic.data(), magic.size()));
    if (std::string_view(magic.data(), magic.size()) != kMagic) {
      return reader.Damaged("it does not begin like a snapshot");
    }
    return reader;
  }

  // The next block; one of another state than `wanted` comes without content.
  absl::StatusOr<Block> Next(std::optional<std::uint32_t> wanted) {
    std::array<char, kBlockHeaderBytes> header{};
    MAYFLY_RETURN_IF_ERROR(Read(header.data(), header.size()));
    Block block;
    block.tag = header[0];
    block.state = ReadLittleEndian(&header[1]);
    const std::uint32_t frame_bytes = ReadLittleEndian(&header[5]);
    if (wanted && block.tag == kEntriesTag && block.state != *wanted) {
      if (::fseeko(file_.get(), off_t{frame_bytes}, SEEK_CUR) != 0) {
        return FileError(errno, "read", path_);
      }
      return block;
    }
    MAYFLY_RETURN_IF_ERROR(ReadFrame(frame_bytes, block.content));
    const std::string_view identity(header.data(), kBlockIdentityBytes);
    if (!block.content.starts_with(identity)) {
      return Damaged("a block is not what its header says");
    }
    block.content.erase(0, kBlockIdentityBytes);
    return block;
  }

  absl::Status ExpectEnd() {
    if (std::fgetc(file_.get()) == EOF) return absl::OkStatus();
    return Damaged("something follows its end");
  }

  absl::Status Damaged(absl::string_view why) const {
    return absl::DataLossError(absl::StrCat(
        "snapshot '", path_, "' is damaged: ", why,
        "; restore an earlier copy of the directory, or remove it to start "
        "afresh"));
  }

 private:
  using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

  BlockReader(std::string path, File file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status Read(char* bytes, std::size_t size) {
    if (std::fread(bytes, 1, size, file_.get()) == size) {
      return absl::OkStatus();
    }
    if (std::ferror(file_.get()) != 0) return FileError(errno, "read", path_);
    return Damaged("it is cut short");
  }

  // Bytes are read piece by piece: a damaged length must not make us allocate
  // what the file cannot hold.
  absl::Status ReadFrame(std::size_t frame_bytes, std::string& content) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
    frame_.clear();
    while (frame_.size() < frame_bytes) {
      const std::size_t begin = frame_.size();
      frame_.resize(begin + std::min(kPieceBytes, frame_bytes - begin));
      MAYFLY_RETURN_IF_ERROR(Read(&frame_[begin], frame_.size() - begin));
    }
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(
        ZSTD_createDCtx(), &ZSTD_freeDCtx);
    ZSTD_inBuffer in{frame_.data(), frame_.size(), 0};
    std::string piece(kPieceBytes, '\0');
    std::size_t more = 1;
    while (more != 0) {
      ZSTD_outBuffer out{piece.data(), piece.size(), 0};
      const std::size_t consumed = in.pos;
      more = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(more)) return Damaged(ZSTD_getErrorName(more));
      content.append(piece.data(), out.pos);
      if (more != 0 && out.pos == 0 && in.pos == consumed) {
        return Damaged("a block ends early");
      }
    }
    if (in.pos != in.size) return Damaged("a block is longer than its content");
    return absl::OkStatus();
  }

  std::string path_;
  File file_;
  std::string frame_;
};

// Visits the entries of a block; how many there were.
absl::StatusOr<std::uint64_t> VisitBlock(const BlockReader& reader,
                                         std::string_view content,
                                         const EntryVisitor& visit) {
  std::uint64_t entries = 0;
  while (!content.empty()) {
    const auto key = serde_internal::ReadLengthPrefixed(content);
    const auto value =
        key ? serde_internal::ReadLengthPrefixed(content) : std::nullopt;
    if (!value) return reader.Damaged("an entry has no framing");
    visit(*key, *value);
    ++entries;
  }
  return entries;
}

}  // namespace

absl::StatusOr<SnapshotWriter> SnapshotWriter::Create(
    const std::string& path, const v1::ShardRecord& record) {
  const std::string temporary = path + ".tmp";
  const int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError(errno, "create", temporary);
  SnapshotWriter writer(fd, path);
  writer.status_ = WriteFully(fd, kMagic, temporary);
  writer.WriteBlock(kRecordTag, 0, record.SerializeAsString());
  return writer;
}

SnapshotWriter::SnapshotWriter(int fd, std::string path)
    : fd_(fd), path_(std::move(path)) {}

SnapshotWriter::SnapshotWriter(SnapshotWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      status_(std::move(other.status_)),
      state_(other.state_),
      entries_(other.entries_),
      block_(std::move(other.block_)) {}

SnapshotWriter::~SnapshotWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink((path_ + ".tmp").c_str());
}

void SnapshotWriter::Add(std::uint32_t state, std::string_view key,
                         std::string_view value) {
  if (state != state_ || block_.size() >= kBlockContentBytes) FlushEntries();
  state_ = state;
  ++entries_;
  serde_internal::AppendLength(key.size(), block_);
  block_.append(key);
  serde_internal::AppendLength(value.size(), block_);
  block_.append(value);
}

absl::Status SnapshotWriter::Finish(const v1::CommitRecord& commit, bool sync) {
  FlushEntries();
  v1::SnapshotFooter footer;
  footer.set_entries(entries_);
  *footer.mutable_commit() = commit;
  WriteBlock(kFooterTag, 0, footer.SerializeAsString());
  const std::string temporary = path_ + ".tmp";
  MAYFLY_RETURN_IF_ERROR(status_);
  if (sync && ::fsync(fd_) != 0) return FileError(errno, "sync", temporary);
  if (::close(std::exchange(fd_, -1)) != 0) {
    return FileError(errno, "write", temporary);
  }
  return RenameFile(temporary, path_, sync);
}

void SnapshotWriter::FlushEntries() {
  if (block_.empty()) return;
  WriteBlock(kEntriesTag, state_, block_);
  block_.clear();
}

void SnapshotWriter::WriteBlock(char tag, std::uint32_t state,
                                std::string_view content) {
  if (!status_.ok()) return;
  std::string header(1, tag);
  AppendLittleEndian(state, header);
  const std::string frame = Compress(header + std::string(content));
  AppendLittleEndian(static_cast<std::uint32_t>(frame.size()), header);
  const std::string temporary = path_ + ".tmp";
  status_ = WriteFully(fd_, header, temporary);
  if (status_.ok()) status_ = WriteFully(fd_, frame, temporary);
}

absl::StatusOr<SnapshotReader> SnapshotReader::Open(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(BlockReader blocks, BlockReader::Open(path));
  SnapshotReader snapshot(path);
  MAYFLY_ASSIGN_OR_RETURN(Block block, blocks.Next(std::nullopt));
  if (block.tag != kRecordTag ||
      !snapshot.record_.ParseFromString(block.content)) {
    return blocks.Damaged("its first block is not a record");
  }
  std::uint64_t entries = 0;
  while (true) {
    MAYFLY_ASSIGN_OR_RETURN(block, blocks.Next(std::nullopt));
    if (block.tag != kEntriesTag) break;
    MAYFLY_ASSIGN_OR_RETURN(
        const std::uint64_t in_block,
        VisitBlock(blocks, block.content,
                   [](std::string_view, std::string_view) {}));
    entries += in_block;
  }
  if (block.tag != kFooterTag ||
      !snapshot.footer_.ParseFromString(block.content)) {
    return blocks.Damaged("its last block is not a footer");
  }
  if (snapshot.footer_.entries() != entries) {
    return blocks.Damaged("it holds another number of entries than it says");
  }
  MAYFLY_RETURN_IF_ERROR(blocks.ExpectEnd());
  return snapshot;
}

absl::Status SnapshotReader::VisitEntries(std::uint32_t state,
                                          const EntryVisitor& visit) const {
  MAYFLY_ASSIGN_OR_RETURN(BlockReader blocks, BlockReader::Open(path_));
  while (true) {
    MAYFLY_ASSIGN_OR_RETURN(const Block block, blocks.Next(state));
    if (block.tag == kFooterTag) return absl::OkStatus();
    if (block.tag != kEntriesTag || block.state != state) continue;
    MAYFLY_RETURN_IF_ERROR(VisitBlock(blocks, block.content, visit).status());
  }
}

}  // namespace mayfly::state_internal
