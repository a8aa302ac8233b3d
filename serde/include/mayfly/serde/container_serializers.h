// vector and the maps.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "mayfly/serde/fields.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/internal/malformed.h"
#include "mayfly/serde/internal/varint.h"
#include "mayfly/serde/serializer_contract.h"

namespace mayfly {

namespace serde_internal {

// Takes a count off the front of `rest`; nullopt if it is malformed or promises
// more elements than the bytes after it can hold, so that it is safe to
// reserve memory for that many.
inline std::optional<std::uint32_t> ReadCount(std::string_view& rest,
                                              std::size_t element_bytes_min) {
  const std::optional<std::uint32_t> count = ReadVarint32(rest);
  if (!count || *count > rest.size() / element_bytes_min) return std::nullopt;
  return count;
}

inline absl::Status BadCount() {
  return Malformed("malformed count, or one that exceeds the bytes after it");
}

// std::map, std::unordered_map, absl::flat_hash_map and their like; no
// multimaps.
template <typename M>
concept MapOfSerializable = Serializable<typename M::key_type> &&
    Serializable<typename M::mapped_type> &&
    requires(M& map, typename M::key_type key, typename M::mapped_type value) {
  {
    map.emplace(std::move(key), std::move(value)).second
    } -> std::convertible_to<bool>;
  { map.size() } -> std::convertible_to<std::size_t>;
  map.clear();
};

}  // namespace serde_internal

// varint32 count, then the elements as fields.
template <Serializable T, typename Allocator>
struct Serializer<std::vector<T, Allocator>> {
  static SerializerIdentity Identity() {
    return {"vector<" + Serializer<T>::Identity().ToString() + ">", 1};
  }

  static void Serialize(const std::vector<T, Allocator>& value,
                        std::string& out) {
    serde_internal::AppendLength(value.size(), out);
    for (const T& element : value) serde_internal::AppendField(element, out);
  }

  static absl::Status Deserialize(std::string_view bytes,
                                  std::vector<T, Allocator>& out) {
    out.clear();
    const std::optional<std::uint32_t> count =
        serde_internal::ReadCount(bytes, serde_internal::FieldBytesMin<T>());
    if (!count) return serde_internal::BadCount();
    out.reserve(*count);
    for (std::uint32_t i = 0; i < *count; ++i) {
      T element{};  // Not in place: vector<bool> has no bool to refer to.
      absl::Status status = serde_internal::ReadField(bytes, element);
      if (!status.ok()) return serde_internal::InPart("element", i, status);
      out.push_back(std::move(element));
    }
    if (!bytes.empty()) return serde_internal::TrailingBytes(bytes.size());
    return absl::OkStatus();
  }
};

// varint32 count, then key and value of each entry as fields, in ascending
// order of the bytes of the keys: equal maps give equal bytes, whatever their
// type and the order in which they were filled.
template <serde_internal::MapOfSerializable M>
struct Serializer<M> {
  static SerializerIdentity Identity() {
    return {"map<" + Serializer<Key>::Identity().ToString() + "," +
                Serializer<Value>::Identity().ToString() + ">",
            1};
  }

  static void Serialize(const M& map, std::string& out) {
    std::vector<Entry> entries;
    entries.reserve(map.size());
    for (const auto& [key, value] : map) {
      entries.push_back({ToBytes<Key>(key), &value});
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key < b.key; });
    MAYFLY_CHECK(std::adjacent_find(entries.begin(), entries.end(),
                                    [](const Entry& a, const Entry& b) {
                                      return a.key == b.key;
                                    }) == entries.end(),
                 "a serializer gives two keys of a map the same bytes");
    serde_internal::AppendLength(entries.size(), out);
    for (const Entry& entry : entries) {
      serde_internal::AppendFieldBytes<Key>(entry.key, out);
      serde_internal::AppendField(*entry.value, out);
    }
  }

  static absl::Status Deserialize(std::string_view bytes, M& out) {
    out.clear();
    const std::optional<std::uint32_t> count = serde_internal::ReadCount(
        bytes, serde_internal::FieldBytesMin<Key>() +
                   serde_internal::FieldBytesMin<Value>());
    if (!count) return serde_internal::BadCount();
    std::optional<std::string_view> previous;
    for (std::uint32_t i = 0; i < *count; ++i) {
      absl::Status status = ReadEntry(bytes, previous, out);
      if (!status.ok()) return serde_internal::InPart("entry", i, status);
    }
    if (!bytes.empty()) return serde_internal::TrailingBytes(bytes.size());
    return absl::OkStatus();
  }

 private:
  using Key = typename M::key_type;
  using Value = typename M::mapped_type;

  struct Entry {
    std::string key;
    const Value* value;
  };

  // Takes one entry off the front of `rest`; `previous` holds the bytes of the
  // key before it.
  static absl::Status ReadEntry(std::string_view& rest,
                                std::optional<std::string_view>& previous,
                                M& out) {
    const std::optional<std::string_view> key_bytes =
        serde_internal::ReadFieldBytes<Key>(rest);
    if (!key_bytes) return serde_internal::CutOff();
    if (previous && *key_bytes <= *previous) {
      return serde_internal::Malformed("keys do not ascend");
    }
    previous = key_bytes;
    Key key{};
    absl::Status status = Serializer<Key>::Deserialize(*key_bytes, key);
    if (!status.ok()) return status;
    Value value{};
    status = serde_internal::ReadField(rest, value);
    if (!status.ok()) return status;
    if (!out.emplace(std::move(key), std::move(value)).second) {
      return serde_internal::Malformed("the key occurs twice");
    }
    return absl::OkStatus();
  }
};

}  // namespace mayfly
