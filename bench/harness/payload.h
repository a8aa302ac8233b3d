// The values that workloads store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "bench/harness/keys.h"

namespace mayfly::bench {

// A value without memory of its own.
using SmallValue = std::array<std::uint64_t, 2>;

inline std::uint64_t Checksum(const SmallValue& value) { return value[0]; }

// Of its first bytes and its length. Reading all of it would take the longer
// for all contenders alike.
inline std::uint64_t Checksum(std::string_view value) {
  std::uint64_t head = 0;
  std::memcpy(&head, value.data(), std::min(value.size(), sizeof(head)));
  return head + value.size();
}

// What a read-modify-write does.
inline void Modify(SmallValue& value) { ++value[0]; }

inline void Modify(std::string& value) {
  std::uint64_t head = 0;
  std::memcpy(&head, value.data(), sizeof(head));
  ++head;
  std::memcpy(value.data(), &head, sizeof(head));
}

// Value number i.  Unit: bytes; those of a SmallValue are fixed.
template <typename V>
V Value(std::uint64_t i, std::size_t bytes);

template <>
inline SmallValue Value(std::uint64_t i, std::size_t /*bytes*/) {
  return {i, Scatter(i)};
}

template <>
inline std::string Value(std::uint64_t i, std::size_t bytes) {
  std::string value;
  value.reserve(bytes + 16);
  for (std::uint64_t part = i * 1000; value.size() < bytes; ++part) {
    value += Key<std::string>(part);
  }
  value.resize(bytes);
  value.shrink_to_fit();
  return value;
}

}  // namespace mayfly::bench
