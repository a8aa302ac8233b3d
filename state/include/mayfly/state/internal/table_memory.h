// The memory account of the tables in front of one database.
#pragma once

#include <cstddef>

namespace mayfly::state_internal {

// Unit: bytes, estimated.
struct TableMemory {
  std::size_t limit = 0;
  std::size_t used = 0;
  // Held by entries that changed since the last commit.
  std::size_t changed = 0;
};

}  // namespace mayfly::state_internal
