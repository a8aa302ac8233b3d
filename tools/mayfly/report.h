// What `mayfly inspect` prints.
#pragma once

#include <string>
#include <vector>

#include "mayfly/state/inspect.h"

namespace mayfly::tool {

// A table a shard for people.
std::string TextOf(const std::vector<InspectedShard>& shards,
                   const InspectOptions& options);
std::string TextOf(const std::vector<InspectedEntry>& entries);

// The same for programs; docs/command.md has the fields.
std::string JsonOf(const std::vector<InspectedShard>& shards,
                   const InspectOptions& options);
std::string JsonOf(const std::vector<InspectedEntry>& entries);

}  // namespace mayfly::tool
