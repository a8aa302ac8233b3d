// What a checkpoint of a shard consists of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly {

struct CheckpointFile {
  // Relative to the checkpoint's directory.
  std::string path;
  std::uint64_t bytes = 0;
  // Of the whole file.  Source: RFC 3720, appendix B.4.
  std::uint32_t crc32c = 0;

  friend bool operator==(const CheckpointFile&,
                         const CheckpointFile&) = default;
};

// In the order of their paths. Files ending in .sst never change: one of the
// same path, size and checksum in an earlier checkpoint is the same.
using CheckpointFiles = std::vector<CheckpointFile>;

}  // namespace mayfly
