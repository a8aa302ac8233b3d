// Where things lie in a shard's directory on RocksDB.  Format: state/FORMAT.md.
#pragma once

#include <string>

namespace mayfly::state_internal {

// The key of the commit record in the column family `default`.
inline constexpr char kCommitKey[] = "commit";

inline std::string DatabasePath(const std::string& shard_directory) {
  return shard_directory + "/db";
}

}  // namespace mayfly::state_internal
