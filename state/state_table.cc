#include "mayfly/state/internal/state_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/state/internal/key_text.h"

namespace mayfly::state_internal {

StateTable::StateTable(TableContext context) : context_(std::move(context)) {}

StateTable::~StateTable() = default;

absl::Status StateTable::NoCurrentKey() const {
  return absl::FailedPreconditionError(
      absl::StrCat("state '", context_.state_name,
                   "': no key is current; call SetCurrentKey() first"));
}

absl::Status StateTable::Damaged(std::string_view key_bytes,
                                 std::string_view why) const {
  return absl::DataLossError(absl::StrCat(
      "state '", context_.state_name, "', key ", KeyText(key_bytes), ": ",
      ToAbsl(why), "; clear the key or restore an earlier checkpoint"));
}

absl::Status StateTable::TooLarge(std::size_t bytes) const {
  return absl::InvalidArgumentError(absl::StrCat(
      "state '", context_.state_name, "': an entry of ", bytes,
      " bytes exceeds the limit of ", kEntryBytesMax,
      "; split it over several keys, list elements or map entries"));
}

absl::StatusOr<TimestampMs> StateTable::StampFor(std::chrono::milliseconds ttl,
                                                 TimestampMs now_ms) {
  const ExpiryRule& rule = policy().rule;
  if (!policy().enabled() || rule.ttl_ms == kInfiniteTtlMs) {
    return absl::FailedPreconditionError(absl::StrCat(
        "state '", context_.state_name, "' has ",
        policy().enabled() ? "an infinite TTL" : "no TTL",
        ", under which a value cannot have a TTL of its own; give the state "
        "the longest one that a value may have"));
  }
  if (ttl.count() <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "state '", context_.state_name,
        "': the ttl of a value must be > 0 ms, got ", ttl.count(), " ms"));
  }
  if (ttl == std::chrono::milliseconds::max()) return kNeverExpires;
  const TimestampMs timestamp_ms =
      SaturatingAdd(now_ms, ttl.count() - rule.ttl_ms);
  if (timestamp_ms < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "state '", context_.state_name, "': at ", now_ms,
        " ms since 1970 a ttl of ", ttl.count(),
        " ms cannot be stored under the state's, ", rule.ttl_ms,
        " ms; give the state a shorter one or, in a test, a later time"));
  }
  // What was written before the state's TTL grew may be gone for good up to
  // this instant: rather a value that lives longer than one that never lived.
  const TimestampMs stamp_ms =
      std::max(timestamp_ms, SaturatingAdd(rule.expired_through_ms, 1));
  backdated_max_ms_ = std::max(backdated_max_ms_, now_ms - stamp_ms);
  return stamp_ms;
}

}  // namespace mayfly::state_internal
