#include "state/snapshot_block.h"

#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::state_internal {
namespace {

using serde_internal::AppendInOrder;
using serde_internal::ReadInOrder;
constexpr std::endian kLittle = std::endian::little;

constexpr std::string_view kHeader = "MAYFLYS1";
constexpr std::string_view kEnd = "MAYFLYE1";
constexpr std::size_t kTrailerBytes = 8 + kEnd.size();
constexpr std::size_t kBlockHeaderBytes = 9;
// Tag and state; they stand before the content too, under its checksum.
constexpr std::size_t kIdentityBytes = 5;
constexpr int kCompressionLevel = 1;

// Whether the next bytes of a file are a header, or would be if it went on.
bool StartsWithHeader(std::FILE* file) {
  std::array<char, kHeader.size()> bytes{};
  const std::size_t read = std::fread(bytes.data(), 1, bytes.size(), file);
  return kHeader.starts_with(std::string_view(bytes.data(), read));
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

}  // namespace

std::string_view SnapshotHeader() { return kHeader; }

std::string SnapshotTrailer(std::uint64_t footer_offset) {
  std::string trailer;
  AppendInOrder(kLittle, footer_offset, trailer);
  trailer.append(kEnd);
  return trailer;
}

std::string EncodeBlock(const Block& block) {
  std::string bytes(1, static_cast<char>(block.tag));
  AppendInOrder(kLittle, block.state, bytes);
  const std::string frame = Compress(bytes + block.content);
  AppendInOrder(kLittle, static_cast<std::uint32_t>(frame.size()), bytes);
  return bytes + frame;
}

absl::StatusOr<bool> BeginsLikeSnapshot(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return FileError(errno, "open", path);
  const bool begins = StartsWithHeader(file.get());
  if (std::ferror(file.get()) != 0) return FileError(errno, "read", path);
  return begins;
}

absl::StatusOr<BlockReader> BlockReader::Open(const std::string& path) {
  File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return FileError(errno, "open", path);
  BlockReader reader(path, std::move(file));
  MAYFLY_RETURN_IF_ERROR(reader.ReadEnds());
  return reader;
}

absl::Status BlockReader::ReadEnds() {
  std::array<char, kTrailerBytes> trailer{};
  struct stat found = {};
  if (::fstat(::fileno(file_.get()), &found) != 0) {
    return FileError(errno, "read", path_);
  }
  if (S_ISDIR(found.st_mode)) return FileError(EISDIR, "read", path_);
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (!StartsWithHeader(file_.get())) {
    return Damaged("it does not begin like a snapshot");
  }
  if (size < kHeader.size() + kTrailerBytes) {
    return Damaged("it is cut short");
  }
  footer_end_ = size - kTrailerBytes;
  MAYFLY_RETURN_IF_ERROR(SeekTo(footer_end_));
  MAYFLY_RETURN_IF_ERROR(Read(trailer.data(), trailer.size()));
  const std::string_view end(trailer.data(), trailer.size());
  footer_offset_ = ReadInOrder<std::uint64_t>(kLittle, end);
  if (!end.ends_with(kEnd) || footer_offset_ < kHeader.size() ||
      footer_offset_ >= footer_end_) {
    return Damaged("it does not end like a snapshot, or is cut short");
  }
  return SeekTo(kHeader.size());
}

absl::Status BlockReader::SeekTo(std::uint64_t offset) {
  if (::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) {
    return FileError(errno, "read", path_);
  }
  offset_ = offset;
  return absl::OkStatus();
}

absl::StatusOr<Block> BlockReader::Next() {
  std::array<char, kBlockHeaderBytes> bytes{};
  MAYFLY_RETURN_IF_ERROR(Read(bytes.data(), bytes.size()));
  const std::string_view header(bytes.data(), bytes.size());
  Block block;
  block.tag = static_cast<BlockTag>(header[0]);
  block.state = ReadInOrder<std::uint32_t>(kLittle, header.substr(1));
  MAYFLY_RETURN_IF_ERROR(ReadFrame(
      ReadInOrder<std::uint32_t>(kLittle, header.substr(5)), block.content));
  if (!block.content.starts_with(header.substr(0, kIdentityBytes))) {
    return Damaged("a block is not what its header says");
  }
  block.content.erase(0, kIdentityBytes);
  return block;
}

absl::Status BlockReader::Damaged(std::string_view why) const {
  return absl::DataLossError(absl::StrCat("snapshot '", path_,
                                          "' is damaged: ", ToAbsl(why),
                                          "; restore an earlier copy of it"));
}

absl::Status BlockReader::Read(char* bytes, std::size_t size) {
  offset_ += size;
  if (std::fread(bytes, 1, size, file_.get()) == size) {
    return absl::OkStatus();
  }
  if (std::ferror(file_.get()) != 0) return FileError(errno, "read", path_);
  return Damaged("it is cut short");
}

// Bytes are read piece by piece: a damaged length must not make us allocate
// what the file cannot hold.
absl::Status BlockReader::ReadFrame(std::size_t frame_bytes,
                                    std::string& content) {
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

}  // namespace mayfly::state_internal
