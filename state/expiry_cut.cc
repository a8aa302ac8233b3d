#include "state/expiry_cut.h"

#include "mayfly/serde/entry_codec.h"
#include "state/state_registry.h"

namespace mayfly::state_internal {

ExpiryCut::ExpiryCut(const v1::StateRecord& state, TimestampMs now_ms)
    : has_ttl_(state.has_ttl()),
      is_list_(state.kind() == v1::STATE_KIND_LIST),
      rule_(RuleOf(state)),
      now_ms_(now_ms) {}

bool ExpiryCut::IsExpired(TimestampMs timestamp_ms) const {
  return rule_.IsExpired(timestamp_ms, now_ms_);
}

std::optional<std::string_view> ExpiryCut::Keep(std::string_view value) {
  if (!has_ttl_) return value;
  if (is_list_) return KeepOfList(value);
  const auto entry = DecodeEntry(value, EntryFormat::kStamped);
  if (entry && IsExpired(entry->timestamp_ms)) return std::nullopt;
  return value;
}

std::optional<std::string_view> ExpiryCut::KeepOfList(std::string_view value) {
  live_.clear();
  ListReader reader(value);
  while (const auto element = reader.Next()) {
    if (IsExpired(element->timestamp_ms)) continue;
    AppendListElement(element->timestamp_ms, element->bytes, live_);
  }
  if (reader.malformed() || live_.size() == value.size()) {
    return value.empty() ? std::nullopt : std::optional(value);
  }
  return live_.empty() ? std::nullopt : std::optional<std::string_view>(live_);
}

}  // namespace mayfly::state_internal
