// What a call of KeyedStateBackend::CleanUp() has done.
#pragma once

#include <cstdint>

namespace mayfly {

// Entries: values, accumulators, list elements or map entries.
// Threads: a plain value.
struct CleanUpResult {
  // On heap, entries that lie among none that can have expired are passed by
  // unchecked.
  std::uint64_t entries_checked = 0;
  // Of a list on RocksDB whose expired elements merging has left out already,
  // one.
  // On RocksDB, since the last commit: what waits for it is not counted again.
  std::uint64_t entries_removed = 0;
  // Every entry that was stored when this round of clean-up began, in this call
  // or in one before it, has been checked. The next call begins a new round.
  bool round_complete = false;
};

}  // namespace mayfly
