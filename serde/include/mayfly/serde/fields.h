// Values within a larger value. A field of fixed size is written bare, any
// other as `varint32 length | bytes`; fields follow one another without more.
// The serializer of a struct is two lines of this (serializer.h shows it), and
// pairs, tuples, arrays, vectors and maps are made of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/internal/malformed.h"
#include "mayfly/serde/internal/varint.h"
#include "mayfly/serde/serializer_contract.h"

namespace mayfly {

namespace serde_internal {

// Appends bytes that already are the whole form of a T.
template <Serializable T>
void AppendFieldBytes(std::string_view bytes, std::string& out) {
  if constexpr (!FixedSize<T>) AppendLength(bytes.size(), out);
  out.append(bytes);
}

template <Serializable T>
void AppendField(const T& value, std::string& out) {
  const std::size_t start = out.size();
  if constexpr (FixedSize<T>) {
    Serializer<T>::Serialize(value, out);
    MAYFLY_CHECK(out.size() - start == Serializer<T>::kFixedSize,
                 "a serializer wrote another size than its kFixedSize");
  } else {
    // Most lengths take one byte: leave room for that, and move the bytes of
    // the field only if it turns out longer.
    out.push_back('\0');
    Serializer<T>::Serialize(value, out);
    const std::size_t length = out.size() - start - 1;
    if (length < 0x80) {
      out[start] = static_cast<char>(length);
    } else {
      std::string prefix;
      AppendLength(length, prefix);
      out.replace(start, 1, prefix);
    }
  }
}

// Takes the whole form of a T off the front of `rest`; nullopt if it is cut off
// or its length is malformed.
template <Serializable T>
std::optional<std::string_view> ReadFieldBytes(std::string_view& rest) {
  if constexpr (FixedSize<T>) {
    constexpr std::size_t kSize = Serializer<T>::kFixedSize;
    if (rest.size() < kSize) return std::nullopt;
    const std::string_view bytes = rest.substr(0, kSize);
    rest.remove_prefix(kSize);
    return bytes;
  } else {
    return ReadLengthPrefixed(rest);
  }
}

template <Serializable T>
absl::Status ReadField(std::string_view& rest, T& out) {
  const std::optional<std::string_view> bytes = ReadFieldBytes<T>(rest);
  if (!bytes) return CutOff();
  return Serializer<T>::Deserialize(*bytes, out);
}

// The fewest bytes that a field of this type takes.
template <Serializable T>
constexpr std::size_t FieldBytesMin() {
  if constexpr (FixedSize<T>) {
    return Serializer<T>::kFixedSize;
  } else {
    return 1;
  }
}

}  // namespace serde_internal

// Bytes of fields that all have a fixed size, for the kFixedSize of a struct.
template <FixedSize... Ts>
inline constexpr std::size_t kFieldsSize = (std::size_t{0} + ... +
                                            Serializer<Ts>::kFixedSize);

// Appends the fields in this order.
template <Serializable... Ts>
void AppendFields(std::string& out, const Ts&... fields) {
  (serde_internal::AppendField(fields, out), ...);
}

// Reads what AppendFields() wrote; `bytes` hold the fields and nothing more.
// Errors: kDataLoss naming the field, counted from 0.
template <Serializable... Ts>
absl::Status ReadFields(std::string_view bytes, Ts&... fields) {
  absl::Status status;
  std::size_t position = 0;
  const auto read = [&](auto& field) {
    status = serde_internal::ReadField(bytes, field);
    if (status.ok()) ++position;
    return status.ok();
  };
  if (!(read(fields) && ...)) {
    return serde_internal::InPart("field", position, status);
  }
  if (!bytes.empty()) return serde_internal::TrailingBytes(bytes.size());
  return status;
}

}  // namespace mayfly
