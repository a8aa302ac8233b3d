#include "state/snapshot_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <atomic>
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

// The file itself.
class SnapshotWriter::Output {
 public:
  Output(int fd, std::string path) : fd_(fd), path_(std::move(path)) {
    Note(WriteFully(fd_, kMagic, TemporaryPath()));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (fd_ >= 0) ::close(fd_);
    if (!in_place_) ::unlink(TemporaryPath().c_str());
  }

  void WriteRecord(const v1::ShardRecord& record) {
    WriteBlock(kRecordTag, 0, record.SerializeAsString());
  }

  void WriteEntries(std::uint32_t state, std::uint64_t entries,
                    std::string_view content) {
    WriteBlock(kEntriesTag, state, content);
    entries_ += entries;
  }

  void CarryOver(std::uint32_t state, const SnapshotReader& from) {
    if (!status_.ok()) return;
    EntryBlock block;
    const absl::Status read = from.VisitEntries(
        state, [&](std::string_view key, std::string_view value) {
          if (block.full()) WriteAndClear(state, block);
          block.Add(key, value);
        });
    if (!block.empty()) WriteAndClear(state, block);
    Note(read);
  }

  void Seal(const v1::CommitRecord& commit, bool sync) {
    v1::SnapshotFooter footer;
    footer.set_entries(entries_);
    *footer.mutable_commit() = commit;
    WriteBlock(kFooterTag, 0, footer.SerializeAsString());
    sync_ = sync;
    if (status_.ok()) Note(Close());
    done_ = true;
  }

  absl::Status MoveInPlace() {
    MAYFLY_RETURN_IF_ERROR(status_);
    MAYFLY_RETURN_IF_ERROR(RenameFile(TemporaryPath(), path_, sync_));
    in_place_ = true;
    return absl::OkStatus();
  }

  // On any thread.
  bool done() const { return done_; }

 private:
  std::string TemporaryPath() const { return path_ + ".tmp"; }

  void WriteAndClear(std::uint32_t state, EntryBlock& block) {
    WriteEntries(state, block.entries(), block.content());
    block.Clear();
  }

  void WriteBlock(char tag, std::uint32_t state, std::string_view content) {
    if (!status_.ok()) return;
    std::string header(1, tag);
    AppendLittleEndian(state, header);
    const std::string frame = Compress(header + std::string(content));
    AppendLittleEndian(static_cast<std::uint32_t>(frame.size()), header);
    Note(WriteFully(fd_, header, TemporaryPath()));
    if (status_.ok()) Note(WriteFully(fd_, frame, TemporaryPath()));
  }

  absl::Status Close() {
    if (sync_ && ::fsync(fd_) != 0) {
      return FileError(errno, "sync", TemporaryPath());
    }
    if (::close(std::exchange(fd_, -1)) != 0) {
      return FileError(errno, "write", TemporaryPath());
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
  std::uint64_t entries_ = 0;
  bool sync_ = false;
  bool in_place_ = false;
  std::atomic<bool> done_ = false;
};

absl::StatusOr<SnapshotWriter> SnapshotWriter::Create(
    const std::string& path, const v1::ShardRecord& record) {
  const std::string temporary = path + ".tmp";
  const int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError(errno, "create", temporary);
  SnapshotWriter writer(std::make_unique<Output>(fd, path),
                        record.states_size());
  writer.output_->WriteRecord(record);
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

bool SnapshotWriter::done() const { return output_->done(); }

absl::Status SnapshotWriter::Finish() {
  thread_->Drain();
  return output_->MoveInPlace();
}

void SnapshotWriter::Flush(std::uint32_t state) {
  EntryBlock block = std::exchange(blocks_[state], EntryBlock());
  if (block.empty()) return;
  const std::size_t bytes = block.content().size();
  thread_->Add(bytes,
               [output = output_.get(), state, block = std::move(block)] {
                 output->WriteEntries(state, block.entries(), block.content());
               });
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
