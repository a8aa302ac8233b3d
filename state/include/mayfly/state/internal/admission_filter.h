// Decides which entries that were read from the store are worth a place in a
// full table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mayfly/state/internal/table_memory.h"

namespace mayfly::state_internal {

// While there is room, each; then those that were read before, not too long
// ago. A walk over cold keys therefore neither pays for insertions nor drives
// out what is in use.
// Source: the doorkeeper of TinyLFU (Einziger, Friedman, Manes, 2017), with a
// direct-mapped array of fingerprints in place of its Bloom filter, so that the
// past fades without being reset.
// Threads: one.
class AdmissionFilter {
 public:
  // Range: `hash` is SegmentedMap's hash of the entry's key.
  bool Admit(std::size_t hash, const TableMemory& memory) {
    if (memory.used < memory.limit - memory.limit / 8) return true;
    if (fingerprints_.empty()) fingerprints_.resize(Fingerprints(memory.limit));
    const auto fingerprint = static_cast<std::uint32_t>(hash >> 32);
    std::uint32_t& last = fingerprints_[hash & (fingerprints_.size() - 1)];
    if (last == fingerprint) return true;
    last = fingerprint;
    return false;
  }

 private:
  // About as many as the table has entries of a common size.
  static std::size_t Fingerprints(std::size_t memory_limit) {
    constexpr std::size_t kEntryBytes = 128;
    return std::bit_ceil(std::clamp(memory_limit / kEntryBytes, std::size_t{64},
                                    std::size_t{1} << 20));
  }

  std::vector<std::uint32_t> fingerprints_;
};

}  // namespace mayfly::state_internal
