// Keys, and the orders in which workloads touch them. Everything here is the
// same in every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mayfly::bench {

// A bijection that leaves no order: neighbours lie far apart.
// Source: the finaliser of SplitMix64 (Steele et al., 2014).
constexpr std::uint64_t Scatter(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Key number i: an integer, or 16 bytes of text.
template <typename K>
K Key(std::uint64_t i);

template <>
inline std::uint64_t Key(std::uint64_t i) {
  return Scatter(i + 1);
}

template <>
inline std::string Key(std::uint64_t i) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string key(16, '0');
  std::uint64_t bits = Scatter(i + 1);
  for (char& digit : key) {
    digit = kDigits[bits & 15];
    bits >>= 4;
  }
  return key;
}

// The numbers of the keys that a repetition touches, in order.
using SequenceOf = std::function<std::vector<std::uint64_t>(int repetition)>;

// `count` keys that no earlier repetition touched, wrapping around at `keys`.
SequenceOf Distinct(std::size_t count, std::size_t keys);

// `count` keys, each of `keys` with the same probability.
SequenceOf Uniform(std::size_t count, std::size_t keys);

// `count` keys, key r of `keys` with a probability in proportion to
// 1 / (r + 1)^0.99.
SequenceOf Zipf(std::size_t count, std::size_t keys);

template <typename K>
std::function<std::vector<K>(int repetition)> KeysOf(SequenceOf sequence_of) {
  return [sequence_of = std::move(sequence_of)](int repetition) {
    std::vector<K> keys;
    for (const std::uint64_t i : sequence_of(repetition)) {
      keys.push_back(Key<K>(i));
    }
    return keys;
  };
}

// Keys 0 to `count` - 1 with their numbers, in the order of their bytes.
template <typename K>
const std::vector<std::pair<K, std::uint64_t>>& SortedKeys(std::size_t count) {
  static std::vector<std::pair<K, std::uint64_t>> keys;
  if (keys.size() == count) return keys;
  keys.clear();
  keys.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) keys.emplace_back(Key<K>(i), i);
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace mayfly::bench
