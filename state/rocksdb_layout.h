// Where things lie in a shard's directory on RocksDB.  Format: state/FORMAT.md.
#pragma once

#include <string>

#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {

// The key of the commit record in the column family `default`.
inline constexpr char kCommitKey[] = "commit";

// The column family in which a state's entries are.
inline std::string ColumnFamilyOf(const v1::StateRecord& state) {
  return state.column_family().empty() ? state.name() : state.column_family();
}

inline std::string DatabasePath(const std::string& shard_directory) {
  return shard_directory + "/db";
}

// Table files of a state that is being rewritten; whatever is there when none
// is, a crash has left.
inline std::string RewritePath(const std::string& shard_directory) {
  return shard_directory + "/rewriting";
}

}  // namespace mayfly::state_internal
