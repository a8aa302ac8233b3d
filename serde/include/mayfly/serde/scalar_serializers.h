// Integers, floating point, bool and string. The bytes are those of Kafka's
// Java serializers of the same types, so that keys meet the same partitions.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/serde/internal/malformed.h"
#include "mayfly/serde/serializer_contract.h"

namespace mayfly {

namespace serde_internal {

template <typename T, typename... Us>
concept OneOf = (std::same_as<T, Us> || ...);

// Integers proper: no bool, and no character types, whose signedness differs
// between platforms.
template <typename T>
concept Integer = std::integral<T> &&
    !OneOf<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <typename T>
concept Float = OneOf<T, float, double>;

// The unsigned integer with as many bits as T.
template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<
        sizeof(T) == 2, std::uint16_t,
        std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// "int32", "uint64", "float64": by size, not by spelling.
template <typename T>
std::string NumberName() {
  const char* kind = std::floating_point<T> ? "float"
                     : std::is_signed_v<T>  ? "int"
                                            : "uint";
  return kind + std::to_string(8 * sizeof(T));
}

}  // namespace serde_internal

// Big-endian: two's complement of an integer, IEEE 754 bits of a float. All
// bits of a float survive, those of a NaN and the sign of zero too.
template <typename T>
requires serde_internal::Integer<T> || serde_internal::Float<T>
struct Serializer<T> {
  static constexpr std::size_t kFixedSize = sizeof(T);

  static SerializerIdentity Identity() {
    return {serde_internal::NumberName<T>(), 1};
  }

  static void Serialize(T value, std::string& out) {
    serde_internal::AppendBigEndian(std::bit_cast<Bits>(value), out);
  }

  static absl::Status Deserialize(std::string_view bytes, T& out) {
    if (bytes.size() != kFixedSize) {
      return serde_internal::WrongSize(serde_internal::NumberName<T>(),
                                       kFixedSize, bytes.size());
    }
    out = std::bit_cast<T>(serde_internal::ReadBigEndian<Bits>(bytes));
    return absl::OkStatus();
  }

 private:
  using Bits = serde_internal::BitsOf<T>;
  static_assert(!std::floating_point<T> || std::numeric_limits<T>::is_iec559);
};

// One byte, 0 or 1.
template <>
struct Serializer<bool> {
  static constexpr std::size_t kFixedSize = 1;

  static SerializerIdentity Identity() { return {"bool", 1}; }

  static void Serialize(bool value, std::string& out) {
    out.push_back(value ? '\1' : '\0');
  }

  static absl::Status Deserialize(std::string_view bytes, bool& out) {
    if (bytes.size() != kFixedSize) {
      return serde_internal::WrongSize("bool", kFixedSize, bytes.size());
    }
    if (bytes[0] != '\0' && bytes[0] != '\1') {
      return serde_internal::Malformed("bool is neither 0 nor 1");
    }
    out = bytes[0] == '\1';
    return absl::OkStatus();
  }
};

// The bytes themselves, zeros and invalid UTF-8 included.
template <>
struct Serializer<std::string> {
  static SerializerIdentity Identity() { return {"string", 1}; }

  static void Serialize(std::string_view value, std::string& out) {
    out.append(value);
  }

  static absl::Status Deserialize(std::string_view bytes, std::string& out) {
    out.assign(bytes);
    return absl::OkStatus();
  }
};

}  // namespace mayfly
