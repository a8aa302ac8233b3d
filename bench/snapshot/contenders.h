// What copies a shard's state, moves it out and brings it in: Mayfly, RocksDB
// by itself, and files that are just copied.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/snapshot/child.h"

namespace mayfly::bench {

struct SnapshotContender {
  // As checkpoint/rocksdb. What is compared with the first of a workload is the
  // others of it.
  std::string workload;
  std::string name;
  // The least ratio of the other's time to Mayfly's; 0: none is set.
  double target = 0;
  // Works below the first directory, where FillStores() has been, and leaves
  // what it makes in the second.
  std::function<Figures(const std::string& stores, const std::string& made)>
      run;
};

// Makes the stores that contenders work on, all with the same entries, each in
// a child.
void FillStores(const std::string& stores, std::uint64_t entries);

// Bytes of an entry: key, timestamp and value.
std::uint64_t SnapshotEntryBytes();

std::vector<SnapshotContender> SnapshotContenders(std::uint64_t entries);

}  // namespace mayfly::bench
