// Unsigned integers as big-endian bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly::serde_internal {

// Appends sizeof(bits) bytes, the most significant first.
template <std::unsigned_integral U>
void AppendBigEndian(U bits, std::string& out) {
  char bytes[sizeof(U)];
  for (std::size_t i = 0; i < sizeof(U); ++i) {
    bytes[i] = static_cast<char>(bits >> (8 * (sizeof(U) - 1 - i)));
  }
  out.append(bytes, sizeof(U));
}

// Reads the first sizeof(U) bytes.
// Range: `bytes` holds at least that many; the caller has checked it.
template <std::unsigned_integral U>
U ReadBigEndian(std::string_view bytes) {
  U bits = 0;
  for (std::size_t i = 0; i < sizeof(U); ++i) {
    bits = static_cast<U>(bits << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return bits;
}

}  // namespace mayfly::serde_internal
