// The blocks that a snapshot file is made of: compressed, each under a
// checksum. Format: docs/savepoint-format.md.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly::state_internal {

enum class BlockTag : char {
  kRecord = 'R',
  kEntries = 'E',
  kFooter = 'F',
};

struct Block {
  BlockTag tag = BlockTag::kRecord;
  // Index of the state in the record; 0 in blocks of no state.
  std::uint32_t state = 0;
  std::string content = {};
};

// A block as it lies in the file.  Threads: any.
std::string EncodeBlock(const Block& block);

// Reads a snapshot file block by block.  Threads: one.
class BlockReader {
 public:
  // Errors: kNotFound if there is no file; kDataLoss if it does not begin and
  // end like a snapshot; as FileError().
  static absl::StatusOr<BlockReader> Open(const std::string& path);

  // Where the footer begins and ends, as the end of the file says.
  std::uint64_t footer_offset() const { return footer_offset_; }
  std::uint64_t footer_end() const { return footer_end_; }
  // Where the next block begins.
  std::uint64_t offset() const { return offset_; }

  // Goes to a block.
  absl::Status SeekTo(std::uint64_t offset);

  // Errors: kDataLoss if the file is cut short or the block damaged.
  absl::StatusOr<Block> Next();

  absl::Status Damaged(std::string_view why) const;

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  BlockReader(std::string path, File file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status ReadEnds();
  absl::Status Read(char* bytes, std::size_t size);
  absl::Status ReadFrame(std::size_t frame_bytes, std::string& content);

  std::string path_;
  File file_;
  std::uint64_t offset_ = 0;
  std::uint64_t footer_offset_ = 0;
  std::uint64_t footer_end_ = 0;
  std::string frame_;
};

// Whether a file begins as a snapshot does, as far as it goes: if not, it is
// something else, and not a snapshot that is damaged.
// Errors: as FileError().
absl::StatusOr<bool> BeginsLikeSnapshot(const std::string& path);

// What a snapshot file begins with, and what it ends with after the footer.
std::string_view SnapshotHeader();
std::string SnapshotTrailer(std::uint64_t footer_offset);

}  // namespace mayfly::state_internal
