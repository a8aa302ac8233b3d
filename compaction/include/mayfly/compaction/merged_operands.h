// How many pieces of a list a read had to put together.
//
// RocksDB does not say; but it merges in the thread that reads, so the merge
// operator can count there.
#pragma once

#include <cstdint>

namespace mayfly {
namespace compaction_internal {

inline thread_local std::uint64_t merged_operands = 0;

}  // namespace compaction_internal

// Starts counting anew, in this thread.
inline void ResetMergedOperands() { compaction_internal::merged_operands = 0; }

// Merge operands that this thread has put together since then.
inline std::uint64_t MergedOperands() {
  return compaction_internal::merged_operands;
}

}  // namespace mayfly
