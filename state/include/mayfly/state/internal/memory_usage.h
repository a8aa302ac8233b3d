// Estimates of the memory that a value holds beyond its own size.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mayfly::state_internal {

// Bytes on the heap that `value` owns, roughly; 0 for types that own none or
// that we know nothing of. A user type can tell by a member
// `std::size_t MemoryBytes() const`.
template <typename T>
std::size_t HeapBytes(const T& value);

template <typename T>
struct HeapBytesOf {
  static std::size_t Of(const T& value) {
    if constexpr (requires { value.MemoryBytes(); }) {
      return value.MemoryBytes();
    } else if constexpr (requires { value.SpaceUsedLong(); }) {
      return value.SpaceUsedLong() - sizeof(T);
    } else {
      return 0;
    }
  }
};

template <>
struct HeapBytesOf<std::string> {
  static std::size_t Of(const std::string& value) {
    // What fits into the object itself takes nothing from the heap. Room to
    // spare is not counted, here and below: copies and moves do not keep it,
    // and what was added for a value must be what is taken off for it later.
    return value.size() > std::string().capacity() ? value.size() + 1 : 0;
  }
};

template <typename T>
struct HeapBytesOf<std::optional<T>> {
  static std::size_t Of(const std::optional<T>& value) {
    return value ? HeapBytes(*value) : 0;
  }
};

template <typename A, typename B>
struct HeapBytesOf<std::pair<A, B>> {
  static std::size_t Of(const std::pair<A, B>& value) {
    return HeapBytes(value.first) + HeapBytes(value.second);
  }
};

template <typename... Ts>
struct HeapBytesOf<std::tuple<Ts...>> {
  static std::size_t Of(const std::tuple<Ts...>& value) {
    return std::apply(
        [](const Ts&... parts) {
          return (std::size_t{0} + ... + HeapBytes(parts));
        },
        value);
  }
};

template <typename T>
struct HeapBytesOf<std::vector<T>> {
  static std::size_t Of(const std::vector<T>& value) {
    std::size_t bytes = value.size() * sizeof(T);
    if constexpr (!std::is_trivially_copyable_v<T>) {
      for (const T& element : value) bytes += HeapBytes(element);
    }
    return bytes;
  }
};

template <typename K, typename V>
struct HeapBytesOf<std::map<K, V>> {
  static std::size_t Of(const std::map<K, V>& value) {
    // A tree node holds three pointers and a colour beside its pair.
    std::size_t bytes = value.size() * (sizeof(std::pair<const K, V>) + 32);
    for (const auto& [k, v] : value) bytes += HeapBytes(k) + HeapBytes(v);
    return bytes;
  }
};

template <typename T>
std::size_t HeapBytes(const T& value) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    return 0;
  } else {
    return HeapBytesOf<T>::Of(value);
  }
}

// Bytes that an entry of a flat hash map takes beside what it owns on the heap.
// Such a map is between 7/16 and 7/8 full.
template <typename K, typename V>
inline constexpr std::size_t kHashMapEntryBytes =
    (sizeof(std::pair<const K, V>) + 1) * 3 / 2;

}  // namespace mayfly::state_internal
