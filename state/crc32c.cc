#include "mayfly/state/internal/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

namespace mayfly::state_internal {

std::uint32_t ExtendCrc32c(std::uint32_t crc, std::string_view bytes) {
  // ISA-L takes lengths as int, and leaves the two inversions of the standard
  // to its caller.
  constexpr std::size_t kPieceMax = std::numeric_limits<int>::max();
  crc = ~crc;
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), kPieceMax);
    // It only reads.
    auto* const begin =
        reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    crc = crc32_iscsi(begin, static_cast<int>(piece), crc);
    bytes.remove_prefix(piece);
  }
  return ~crc;
}

}  // namespace mayfly::state_internal
