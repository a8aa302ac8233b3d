// The commands of the tool. Each prints to standard output and returns what
// went wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mayfly/state/backend_options.h"

namespace mayfly::tool {

struct InspectArguments {
  std::string path;
  // Only this state; all if it is empty.
  std::string state;
  // Serialised; of `state`. Only its entries are printed then.
  std::string key;
  bool by_key = false;
  // What has expired is told by the clock of the commit, not by this machine's.
  bool as_of_commit = false;
  bool json = false;
};

absl::Status Inspect(const InspectArguments& arguments);

// All shards are looked at, whatever is found in the first.
// Errors: kDataLoss if any of them is damaged.
absl::Status Verify(const std::string& path, bool json);

absl::Status Compact(const std::string& path);

// Of the one shard in `path`, into the file `to`; or of the job with this state
// directory, into the directory of savepoints `to`.
absl::Status Savepoint(const std::string& path, const std::string& to);

struct RestoreArguments {
  std::vector<std::string> sources;
  // To be filled.
  std::string directory;
  BackendKind backend = BackendKind::kRocksdb;
  int shard = 0;
  int shards = 1;
  // nullopt: that of the sources.
  std::optional<std::string> position;
};

absl::Status Restore(const RestoreArguments& arguments);

}  // namespace mayfly::tool
