#include "mayfly/serde/partitioner.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mayfly/serde/internal/check.h"

namespace mayfly {

std::uint32_t Murmur2(std::string_view bytes) {
  constexpr std::uint32_t kSeed = 0x9747b28c;
  constexpr std::uint32_t kMultiplier = 0x5bd1e995;
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(bytes[i])};
  };

  std::uint32_t hash = kSeed ^ static_cast<std::uint32_t>(bytes.size());
  std::size_t i = 0;
  for (; bytes.size() - i >= 4; i += 4) {
    std::uint32_t word =
        byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24;
    word *= kMultiplier;
    word ^= word >> 24;
    word *= kMultiplier;
    hash = (hash * kMultiplier) ^ word;
  }
  std::uint32_t tail = 0;
  for (std::size_t j = 0; i + j < bytes.size(); ++j) {
    tail |= byte(i + j) << (8 * j);
  }
  if (i < bytes.size()) hash = (hash ^ tail) * kMultiplier;
  hash ^= hash >> 13;
  hash *= kMultiplier;
  return hash ^ hash >> 15;
}

int PartitionForKey(std::string_view key_bytes, int partitions) {
  MAYFLY_CHECK(partitions >= 1);
  const auto positive = static_cast<int>(Murmur2(key_bytes) & 0x7fffffff);
  return positive % partitions;
}

}  // namespace mayfly
