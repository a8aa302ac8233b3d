// Keys in storage. The key of a value-like state is the serialised key as it
// is; that of a map entry is
//
//   varint32 length of key | key | map key
//
// The length in front makes it unambiguous: two different (key, map key) pairs
// never share bytes, and the range of one key's entries holds no other's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly {

// Appends what the stored keys of all map entries of a key begin with.
// Range: at most UINT32_MAX bytes; a longer key aborts.
void AppendMapKeyPrefix(std::string_view key_bytes, std::string& out);

// Appends the stored key of one map entry.  Range: as above.
void AppendMapKey(std::string_view key_bytes, std::string_view map_key_bytes,
                  std::string& out);

// What a stored key of a map entry consists of.
// Lifetime: both point into what was decoded.
struct MapKeyView {
  std::string_view key;
  std::string_view map_key;

  friend bool operator==(const MapKeyView&, const MapKeyView&) = default;
};

// Splits a stored key; nullopt if the bytes are malformed.
std::optional<MapKeyView> DecodeMapKey(std::string_view stored);

// The smallest string above everything that starts with `prefix`, for the end
// of a range; nullopt if there is none, as for an empty prefix and one whose
// bytes are all 0xFF.
std::optional<std::string> PrefixUpperBound(std::string_view prefix);

}  // namespace mayfly
