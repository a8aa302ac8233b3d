// Leaves out of stored entries what has expired, without knowing their types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mayfly/serde/timestamp.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {

// Threads: one.
class ExpiryCut {
 public:
  // Of a state without TTL everything stays. `now_ms` is in the state's time.
  ExpiryCut(const v1::StateRecord& state, TimestampMs now_ms);

  // What is left of a value, or of a list; nullopt if nothing is. What cannot
  // be read stays as it is, for a reader to report.
  // Lifetime: until the next call, and as long as `value`.
  std::optional<std::string_view> Keep(std::string_view value);

 private:
  std::optional<std::string_view> KeepOfList(std::string_view value);
  bool IsExpired(TimestampMs timestamp_ms) const;

  const bool has_ttl_;
  const bool is_list_;
  const ExpiryRule rule_;
  const TimestampMs now_ms_;
  std::string live_;
};

}  // namespace mayfly::state_internal
