#include "mayfly/serde/state_key.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mayfly/serde/internal/varint.h"

namespace mayfly {

void AppendMapKeyPrefix(std::string_view key_bytes, std::string& out) {
  serde_internal::AppendLength(key_bytes.size(), out);
  out.append(key_bytes);
}

void AppendMapKey(std::string_view key_bytes, std::string_view map_key_bytes,
                  std::string& out) {
  AppendMapKeyPrefix(key_bytes, out);
  out.append(map_key_bytes);
}

std::optional<MapKeyView> DecodeMapKey(std::string_view stored) {
  const std::optional<std::string_view> key =
      serde_internal::ReadLengthPrefixed(stored);
  if (!key) return std::nullopt;
  return MapKeyView{*key, stored};
}

std::optional<std::string> PrefixUpperBound(std::string_view prefix) {
  const std::size_t last = prefix.find_last_not_of('\xFF');
  if (last == std::string_view::npos) return std::nullopt;
  std::string bound(prefix.substr(0, last + 1));
  bound.back() =
      static_cast<char>(static_cast<unsigned char>(bound.back()) + 1);
  return bound;
}

}  // namespace mayfly
