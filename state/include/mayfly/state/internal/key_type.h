// Which types may be keys.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mayfly::state_internal {

// Whether a floating-point number is in the type. It cannot be in a key: NaN is
// not equal to itself, and 0.0 is equal to -0.0, which has other bytes.
template <typename T>
struct HasFloatingPoint : std::is_floating_point<T> {};

template <typename T>
struct HasFloatingPoint<std::optional<T>> : HasFloatingPoint<T> {};

template <typename T>
struct HasFloatingPoint<std::vector<T>> : HasFloatingPoint<T> {};

template <typename... Ts>
struct HasFloatingPoint<std::tuple<Ts...>>
    : std::disjunction<HasFloatingPoint<Ts>...> {};

template <typename A, typename B>
struct HasFloatingPoint<std::pair<A, B>> : HasFloatingPoint<std::tuple<A, B>> {
};

template <typename A, typename B>
struct HasFloatingPoint<std::map<A, B>> : HasFloatingPoint<std::tuple<A, B>> {};

// Instantiate it where a key type arrives, for an error people can read.
template <typename T>
struct RequireKeyType {
  static_assert(!HasFloatingPoint<T>::value,
                "A floating-point number cannot be a key, nor part of one: NaN "
                "is not equal to itself, and 0.0 is equal to -0.0, which has "
                "other bytes.");
};

}  // namespace mayfly::state_internal
