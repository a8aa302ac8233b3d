// Values of flags that are more than text or a number. Each refuses what makes
// no sense, and says what would.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "mayfly/runtime/parse_duration.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/ttl_config.h"

namespace airport_delays {

// One of two words.
template <typename T>
struct Choice {
  T value;
};

template <typename T>
using Words = std::array<std::pair<const char*, T>, 2>;

template <typename T>
inline constexpr Words<T> kWords;

template <>
inline constexpr Words<mayfly::BackendKind> kWords<mayfly::BackendKind> = {{
    {"rocksdb", mayfly::BackendKind::kRocksdb},
    {"heap", mayfly::BackendKind::kHeap},
}};

template <>
inline constexpr Words<mayfly::TimeCharacteristic>
    kWords<mayfly::TimeCharacteristic> = {{
        {"event", mayfly::TimeCharacteristic::kEventTime},
        {"processing", mayfly::TimeCharacteristic::kProcessingTime},
    }};

template <>
inline constexpr Words<mayfly::UpdateType> kWords<mayfly::UpdateType> = {{
    {"write", mayfly::UpdateType::kOnCreateAndWrite},
    {"read", mayfly::UpdateType::kOnReadAndWrite},
}};

template <>
inline constexpr Words<mayfly::StateVisibility>
    kWords<mayfly::StateVisibility> = {{
        {"never", mayfly::StateVisibility::kNeverReturnExpired},
        {"until-cleaned",
         mayfly::StateVisibility::kReturnExpiredIfNotCleanedUp},
    }};

template <typename T>
bool AbslParseFlag(absl::string_view text, Choice<T>* choice,
                   std::string* error) {
  for (const auto& [word, value] : kWords<T>) {
    if (text != word) continue;
    choice->value = value;
    return true;
  }
  *error =
      absl::StrCat("must be ", kWords<T>[0].first, " or ", kWords<T>[1].first);
  return false;
}

template <typename T>
std::string AbslUnparseFlag(Choice<T> choice) {
  for (const auto& [word, value] : kWords<T>) {
    if (choice.value == value) return word;
  }
  return "";
}

// How long state lives; may be infinite.
struct Ttl {
  mayfly::FlagDuration value{0};
};
bool AbslParseFlag(absl::string_view text, Ttl* ttl, std::string* error);
std::string AbslUnparseFlag(Ttl ttl);

// How often something is done.
struct Interval {
  std::chrono::milliseconds value{0};
};
bool AbslParseFlag(absl::string_view text, Interval* interval,
                   std::string* error);
std::string AbslUnparseFlag(Interval interval);

// How many of something: 1 or more.
struct Count {
  int value = 1;
};
bool AbslParseFlag(absl::string_view text, Count* count, std::string* error);
std::string AbslUnparseFlag(Count count);

// How often something may happen; nullopt for as often as it likes.
struct Limit {
  std::optional<std::uint64_t> value;
};
bool AbslParseFlag(absl::string_view text, Limit* limit, std::string* error);
std::string AbslUnparseFlag(Limit limit);

}  // namespace airport_delays
