#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/state_key.h"
#include "mayfly/serde/timestamp.h"
#include "tests/golden/serde_formats.h"

namespace mayfly::golden {
namespace {

Sample TimestampSample(std::string label, TimestampMs timestamp_ms) {
  Sample sample{std::move(label), "", [=](std::string_view bytes) {
                  return bytes.size() == kTimestampBytes &&
                         ReadTimestamp(bytes) == timestamp_ms;
                }};
  AppendTimestamp(timestamp_ms, sample.bytes);
  return sample;
}

Sample EntrySample(std::string label, TimestampMs timestamp_ms,
                   const std::string& value) {
  Sample sample{std::move(label), "", [=](std::string_view bytes) {
                  const std::optional<EntryView> entry = DecodeEntry(bytes);
                  return entry && entry->timestamp_ms == timestamp_ms &&
                         entry->bytes == value;
                }};
  AppendTimestamp(timestamp_ms, sample.bytes);
  sample.bytes += value;
  return sample;
}

using Elements = std::vector<std::pair<TimestampMs, std::string>>;

Sample ListSample(std::string label, EntryFormat format,
                  const Elements& elements) {
  Sample sample{std::move(label), "", [=](std::string_view bytes) {
                  ListReader reader(bytes, format);
                  Elements read;
                  while (const auto element = reader.Next()) {
                    read.emplace_back(element->timestamp_ms, element->bytes);
                  }
                  return !reader.malformed() && read == elements;
                }};
  for (const auto& [timestamp_ms, payload] : elements) {
    if (format == EntryFormat::kStamped) {
      AppendListElement(timestamp_ms, payload, sample.bytes);
    } else {
      AppendUnstampedListElement(payload, sample.bytes);
    }
  }
  return sample;
}

Sample MapKeySample(std::string label, const std::string& key,
                    const std::string& map_key) {
  Sample sample{std::move(label), "", [=](std::string_view bytes) {
                  return DecodeMapKey(bytes) == MapKeyView{key, map_key};
                }};
  AppendMapKey(key, map_key, sample.bytes);
  return sample;
}

}  // namespace

std::vector<Format> StorageFormats() {
  constexpr EntryFormat kStamped = EntryFormat::kStamped;
  constexpr EntryFormat kUnstamped = EntryFormat::kUnstamped;
  return {
      {"timestamp",
       "timestamp",
       {TimestampSample("1970-01-01T00:00:00.000Z", 0),
        TimestampSample("2023-11-14T22:13:20.000Z", 1700000000000),
        TimestampSample("never expires", kNeverExpires)}},
      {"entry",
       "timestamp, then user bytes",
       {EntrySample("1, no bytes", 1, ""),
        EntrySample("1700000000000, 'ab'", 1700000000000, "ab"),
        EntrySample("never expires, 'ab'", kNeverExpires, "ab")}},
      {"list",
       "list elements with timestamps",
       {ListSample("one element: 1 'ab'", kStamped, {{1, "ab"}}),
        ListSample("1 'a,b', 2 '', 3 300 times 'x'", kStamped,
                   {{1, "a,b"}, {2, ""}, {3, std::string(300, 'x')}})}},
      {"list_unstamped",
       "list elements without timestamps",
       {ListSample("'ab', ''", kUnstamped,
                   {{kNeverExpires, "ab"}, {kNeverExpires, ""}}),
        ListSample("300 times 'x'", kUnstamped,
                   {{kNeverExpires, std::string(300, 'x')}})}},
      {"map_key",
       "stored keys of map entries",
       {MapKeySample("key '', map key ''", "", ""),
        MapKeySample("key 'ab', map key 'c'", "ab", "c"),
        MapKeySample("key 300 times 'x', map key 'c'", std::string(300, 'x'),
                     "c")}},
  };
}

}  // namespace mayfly::golden
