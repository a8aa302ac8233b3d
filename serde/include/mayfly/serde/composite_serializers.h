// optional, pair, tuple and array.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "mayfly/serde/fields.h"
#include "mayfly/serde/internal/malformed.h"
#include "mayfly/serde/serializer_contract.h"

namespace mayfly {

// A flag byte, 0 or 1; after a 1 the whole form of the value.
template <Serializable T>
struct Serializer<std::optional<T>> {
  static SerializerIdentity Identity() {
    return {"optional<" + Serializer<T>::Identity().ToString() + ">", 1};
  }

  static void Serialize(const std::optional<T>& value, std::string& out) {
    out.push_back(value ? '\1' : '\0');
    if (value) Serializer<T>::Serialize(*value, out);
  }

  static absl::Status Deserialize(std::string_view bytes,
                                  std::optional<T>& out) {
    if (bytes.empty()) {
      return serde_internal::Malformed("optional without its flag byte");
    }
    const char flag = bytes.front();
    bytes.remove_prefix(1);
    if (flag == '\1') return Serializer<T>::Deserialize(bytes, out.emplace());
    if (flag != '\0') {
      return serde_internal::Malformed("flag of optional is neither 0 nor 1");
    }
    if (!bytes.empty()) return serde_internal::TrailingBytes(bytes.size());
    out.reset();
    return absl::OkStatus();
  }
};

namespace serde_internal {

// Gives kFixedSize to fields that all have one.
template <typename... Ts>
struct FixedSizeOf {};

template <FixedSize... Ts>
requires(sizeof...(Ts) > 0) struct FixedSizeOf<Ts...> {
  static constexpr std::size_t kFixedSize = kFieldsSize<Ts...>;
};

// "pair<int32@1,string@1>"
template <Serializable First, Serializable... Rest>
std::string NameOfFields(const char* kind) {
  std::string name = std::string(kind) + "<";
  name += Serializer<First>::Identity().ToString();
  ((name += "," + Serializer<Rest>::Identity().ToString()), ...);
  return name + ">";
}

template <Serializable T, std::size_t kCount>
struct FixedSizeOfArray {};

template <FixedSize T, std::size_t kCount>
struct FixedSizeOfArray<T, kCount> {
  static constexpr std::size_t kFixedSize = kCount * Serializer<T>::kFixedSize;
};

}  // namespace serde_internal

// The two fields.
template <Serializable A, Serializable B>
struct Serializer<std::pair<A, B>> : serde_internal::FixedSizeOf<A, B> {
  static SerializerIdentity Identity() {
    return {serde_internal::NameOfFields<A, B>("pair"), 1};
  }

  static void Serialize(const std::pair<A, B>& value, std::string& out) {
    AppendFields(out, value.first, value.second);
  }

  static absl::Status Deserialize(std::string_view bytes,
                                  std::pair<A, B>& out) {
    return ReadFields(bytes, out.first, out.second);
  }
};

// The fields in order.
template <Serializable... Ts>
requires(sizeof...(Ts) > 0) struct Serializer<std::tuple<Ts...>>
    : serde_internal::FixedSizeOf<Ts...> {
  static SerializerIdentity Identity() {
    return {serde_internal::NameOfFields<Ts...>("tuple"), 1};
  }

  static void Serialize(const std::tuple<Ts...>& value, std::string& out) {
    std::apply([&](const Ts&... fields) { AppendFields(out, fields...); },
               value);
  }

  static absl::Status Deserialize(std::string_view bytes,
                                  std::tuple<Ts...>& out) {
    return std::apply(
        [&](Ts&... fields) { return ReadFields(bytes, fields...); }, out);
  }
};

// The elements as fields; no count, since the type has it.
template <Serializable T, std::size_t kCount>
requires(kCount > 0) struct Serializer<std::array<T, kCount>>
    : serde_internal::FixedSizeOfArray<T, kCount> {
  static SerializerIdentity Identity() {
    return {"array<" + Serializer<T>::Identity().ToString() + "," +
                std::to_string(kCount) + ">",
            1};
  }

  static void Serialize(const std::array<T, kCount>& value, std::string& out) {
    for (const T& element : value) serde_internal::AppendField(element, out);
  }

  static absl::Status Deserialize(std::string_view bytes,
                                  std::array<T, kCount>& out) {
    return std::apply(
        [&](auto&... fields) { return ReadFields(bytes, fields...); }, out);
  }
};

}  // namespace mayfly
