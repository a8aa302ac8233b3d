// The entries of a stored key, whatever its kind, and what each takes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "mayfly/serde/entry_codec.h"

namespace mayfly::state_internal {

// Calls `visit(entry, bytes)` for each entry that is stored under a key: a list
// has one for each element, everything else one. `bytes` is what leaves the
// store when the entry goes, before compression: its payload, its timestamp and
// its framing, and the key with it, or with the newest element of a list. False
// if not all of it can be read.
template <typename Visit>
bool VisitStoredEntries(bool is_list, EntryFormat format, std::string_view key,
                        std::string_view stored, Visit visit) {
  if (!is_list) {
    const std::optional<EntryView> entry = DecodeEntry(stored, format);
    if (entry) visit(*entry, key.size() + stored.size());
    return entry.has_value();
  }
  const char* newest = nullptr;
  TimestampMs newest_ms = 0;
  for (ListReader reader(stored, format); const auto element = reader.Next();) {
    if (newest != nullptr && element->timestamp_ms < newest_ms) continue;
    newest = element->bytes.data();
    newest_ms = element->timestamp_ms;
  }
  const std::size_t framing = format == EntryFormat::kStamped
                                  ? kListElementHeaderBytes
                                  : kListLengthBytes;
  ListReader reader(stored, format);
  while (const auto element = reader.Next()) {
    const bool takes_key = element->bytes.data() == newest;
    visit(*element,
          framing + element->bytes.size() + (takes_key ? key.size() : 0));
  }
  return !reader.malformed();
}

}  // namespace mayfly::state_internal
