#include "testing/simulated_log/group_metadata.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "mayfly/log/log_error.h"

namespace mayfly::testing_internal {

GroupMetadata Encode(const GroupMember& member) {
  return {
      absl::StrCat(member.generation, "\n", member.member, "\n", member.group)};
}

absl::StatusOr<GroupMember> Decode(const GroupMetadata& metadata) {
  const std::vector<std::string> parts =
      absl::StrSplit(metadata.bytes, absl::MaxSplits('\n', 2));
  GroupMember member;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &member.generation)) {
    return MakeLogError(LogError::kRejected,
                        "this is not the metadata of a simulated group");
  }
  member.member = parts[1];
  member.group = parts[2];
  return member;
}

}  // namespace mayfly::testing_internal
