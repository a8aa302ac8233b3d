// Random values of every type that has a built-in serializer.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mayfly::serde_test {

using Rng = std::mt19937_64;

// Arbitrary<T>::Draw(rng) is any T: small and empty ones often, the bounds of
// its range now and then.
template <typename T>
struct Arbitrary;

template <typename T>
T Draw(Rng& rng) {
  return Arbitrary<T>::Draw(rng);
}

inline std::size_t DrawSize(Rng& rng) {
  return rng() % 16 == 0 ? 120 + rng() % 20 : rng() % 5;
}

template <>
struct Arbitrary<bool> {
  static bool Draw(Rng& rng) { return rng() % 2 == 0; }
};

template <std::integral T>
struct Arbitrary<T> {
  // Every magnitude equally often, both signs.
  static T Draw(Rng& rng) {
    const auto bits = static_cast<T>(rng() >> rng() % 64);
    return rng() % 2 == 0 ? bits : static_cast<T>(~bits);
  }
};

template <std::floating_point T>
struct Arbitrary<T> {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  // Any bits but NaN, which equals nothing, and -0, which equals 0.
  static T Draw(Rng& rng) {
    const T value = std::bit_cast<T>(static_cast<Bits>(rng()));
    return std::isnan(value) || value == 0 ? T{0} : value;
  }
};

template <>
struct Arbitrary<std::string> {
  static std::string Draw(Rng& rng) {
    std::string text(DrawSize(rng), '\0');
    for (char& c : text) c = static_cast<char>(rng());
    return text;
  }
};

template <typename T>
struct Arbitrary<std::optional<T>> {
  static std::optional<T> Draw(Rng& rng) {
    if (rng() % 2 == 0) return std::nullopt;
    return Arbitrary<T>::Draw(rng);
  }
};

template <typename A, typename B>
struct Arbitrary<std::pair<A, B>> {
  static std::pair<A, B> Draw(Rng& rng) {
    return {Arbitrary<A>::Draw(rng), Arbitrary<B>::Draw(rng)};
  }
};

template <typename... Ts>
struct Arbitrary<std::tuple<Ts...>> {
  static std::tuple<Ts...> Draw(Rng& rng) {
    return {Arbitrary<Ts>::Draw(rng)...};
  }
};

template <typename T, std::size_t kCount>
struct Arbitrary<std::array<T, kCount>> {
  static std::array<T, kCount> Draw(Rng& rng) {
    std::array<T, kCount> value;
    for (T& element : value) element = Arbitrary<T>::Draw(rng);
    return value;
  }
};

template <typename T>
struct Arbitrary<std::vector<T>> {
  static std::vector<T> Draw(Rng& rng) {
    std::vector<T> value;
    for (std::size_t i = DrawSize(rng); i > 0; --i) {
      value.push_back(Arbitrary<T>::Draw(rng));
    }
    return value;
  }
};

template <typename M>
requires requires { typename M::mapped_type; }
struct Arbitrary<M> {
  static M Draw(Rng& rng) {
    M map;
    for (std::size_t i = DrawSize(rng); i > 0; --i) {
      map.emplace(Arbitrary<typename M::key_type>::Draw(rng),
                  Arbitrary<typename M::mapped_type>::Draw(rng));
    }
    return map;
  }
};

}  // namespace mayfly::serde_test
