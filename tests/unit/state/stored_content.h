// What is stored in a directory or file that nobody has open, to be compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/status_macros.h"
#include "state/stored_shard.h"

namespace mayfly::state_test {

struct StoredContent {
  std::string position;
  // By state, then by key; in their stored form.
  std::map<std::string, std::map<std::string, std::string>> states;

  friend bool operator==(const StoredContent&, const StoredContent&) = default;
};

// Of a shard's directory, a checkpoint of one, or a savepoint.
inline absl::StatusOr<StoredContent> ReadContent(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const auto shard,
                          state_internal::StoredShard::Open(path));
  StoredContent content{.position = shard->commit().position(), .states = {}};
  for (int i = 0; i < shard->record().states_size(); ++i) {
    auto& entries = content.states[shard->record().states(i).name()];
    MAYFLY_RETURN_IF_ERROR(
        shard->Visit(static_cast<std::uint32_t>(i),
                     [&](std::string_view key, std::string_view value) {
                       entries[std::string(key)] = value;
                       return absl::OkStatus();
                     }));
  }
  return content;
}

}  // namespace mayfly::state_test
