// Unsigned integers as bytes in either order.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mayfly::serde_internal {

// A number whose memory on this machine is `bits` in the other byte order, if
// `order` is not this machine's.
template <std::unsigned_integral U>
constexpr U InOrder(std::endian order, U bits) {
  if (order == std::endian::native || sizeof(U) == 1) return bits;
  if constexpr (sizeof(U) == 8) return __builtin_bswap64(bits);
  if constexpr (sizeof(U) == 4) return __builtin_bswap32(bits);
  if constexpr (sizeof(U) == 2) return __builtin_bswap16(bits);
  return bits;
}

// Reads the first sizeof(U) bytes. Compilers make one load of it; a loop over
// the bytes they leave a loop.
// Range: `bytes` holds at least that many; the caller has checked it.
template <std::unsigned_integral U>
U ReadInOrder(std::endian order, std::string_view bytes) {
  U bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof(U));
  return InOrder(order, bits);
}

template <std::unsigned_integral U>
void AppendInOrder(std::endian order, U bits, std::string& out) {
  bits = InOrder(order, bits);
  char bytes[sizeof(U)];
  std::memcpy(bytes, &bits, sizeof(U));
  out.append(bytes, sizeof(U));
}

// Appends sizeof(bits) bytes, the most significant first.
template <std::unsigned_integral U>
void AppendBigEndian(U bits, std::string& out) {
  AppendInOrder(std::endian::big, bits, out);
}

// Reads the first sizeof(U) bytes, the most significant first.
// Range: `bytes` holds at least that many; the caller has checked it.
template <std::unsigned_integral U>
U ReadBigEndian(std::string_view bytes) {
  return ReadInOrder<U>(std::endian::big, bytes);
}

}  // namespace mayfly::serde_internal
