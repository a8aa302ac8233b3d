// What `mayfly inspect` prints.
#pragma once

#include <string>
#include <vector>

#include "mayfly/state/inspect.h"
#include "nlohmann/json_fwd.hpp"

namespace mayfly::tool {

// The entries of a key, and the shard that they are in.
struct FoundEntries {
  std::string shard;
  std::vector<InspectedEntry> entries;
};

// A table a shard for people.
std::string TextOf(const std::vector<InspectedShard>& shards,
                   const InspectOptions& options);
std::string TextOf(const std::vector<FoundEntries>& found);

// The same for programs; docs/command.md has the fields.
std::string JsonOf(const std::vector<InspectedShard>& shards,
                   const InspectOptions& options);
std::string JsonOf(const std::vector<FoundEntries>& found);

// Paths need not be UTF-8, and JSON must.
std::string Dump(const nlohmann::json& value);

}  // namespace mayfly::tool
