// Lengths and counts: LEB128, seven bits a byte, the lowest first, at most 32
// bits, always in the shortest form.  Source: protobuf varint32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mayfly/serde/internal/check.h"

namespace mayfly::serde_internal {

inline constexpr std::size_t kVarint32BytesMax = 5;

inline void AppendVarint32(std::uint32_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

// Appends a length or count.
// Range: at most UINT32_MAX; a larger one aborts, since no reader could tell.
inline void AppendLength(std::size_t length, std::string& out) {
  MAYFLY_CHECK(length <= UINT32_MAX, "longer than a stored length can say");
  AppendVarint32(static_cast<std::uint32_t>(length), out);
}

// Takes a varint off the front of `rest`. nullopt, with `rest` in no particular
// state, if it ends early, exceeds 32 bits or is not in the shortest form: two
// spellings of a length would let two stored keys mean the same.
inline std::optional<std::uint32_t> ReadVarint32(std::string_view& rest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kVarint32BytesMax && i < rest.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= std::uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte >= 0x80) continue;
    if ((byte == 0 && i > 0) || value > UINT32_MAX) return std::nullopt;
    rest.remove_prefix(i + 1);
    return static_cast<std::uint32_t>(value);
  }
  return std::nullopt;
}

// Takes `varint32 length | bytes` off the front of `rest`; nullopt as above, or
// if fewer bytes follow than the length says.
inline std::optional<std::string_view> ReadLengthPrefixed(
    std::string_view& rest) {
  const std::optional<std::uint32_t> length = ReadVarint32(rest);
  if (!length || *length > rest.size()) return std::nullopt;
  const std::string_view bytes = rest.substr(0, *length);
  rest.remove_prefix(*length);
  return bytes;
}

}  // namespace mayfly::serde_internal
