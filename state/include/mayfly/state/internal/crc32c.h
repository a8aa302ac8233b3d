// CRC-32C, the checksum of what lies in files.
// Source: RFC 3720, appendix B.4 (Castagnoli's polynomial).
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly::state_internal {

// The checksum of what had `crc` followed by `bytes`; of nothing it is 0.
// Threads: any.
std::uint32_t ExtendCrc32c(std::uint32_t crc, std::string_view bytes);

inline std::uint32_t Crc32c(std::string_view bytes) {
  return ExtendCrc32c(0, bytes);
}

}  // namespace mayfly::state_internal
