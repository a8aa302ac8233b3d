// How much a state holds.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly {

// Entries: values, list elements or map entries.
// Threads: a plain value.
struct StateStatistics {
  std::string state;
  std::uint64_t live_entries = 0;
  // Expired and not yet removed. Of lists that RocksDB puts together from
  // pieces only what had not expired at the last commit is counted: the read
  // that counts leaves the rest out.
  std::uint64_t expired_entries = 0;
  // Of stored keys and values, before compression.  Unit: bytes.
  std::uint64_t bytes = 0;
  // False if only a part was looked at and the figures are extrapolated.
  bool exact = true;
};

}  // namespace mayfly
