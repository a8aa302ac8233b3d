// What is in the GroupMetadata of a simulated log.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "mayfly/log/consumer.h"

namespace mayfly::testing_internal {

struct GroupMember {
  std::string group;
  std::string member;
  std::int64_t generation = 0;
};

GroupMetadata Encode(const GroupMember& member);

// Errors: kRejected if it is of something else.
absl::StatusOr<GroupMember> Decode(const GroupMetadata& metadata);

}  // namespace mayfly::testing_internal
