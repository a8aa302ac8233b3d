#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "google/protobuf/util/message_differencer.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/test/test_message.pb.h"
#include "tests/golden/serde_formats.h"
#include "tests/unit/serde/flight.h"

namespace mayfly::golden {
namespace {

using serde_test::Flight;
using test::TestMessage;

template <typename T>
bool Equal(const T& a, const T& b) {
  if constexpr (std::same_as<T, TestMessage>) {
    return google::protobuf::util::MessageDifferencer::Equals(a, b);
  } else {
    return a == b;
  }
}

// The values of one type with their labels. The title is the serializer's
// identity, which checkpoints record and which may not change either.
template <typename T>
Format Values(std::string file,
              std::vector<std::pair<std::string, T>> labelled) {
  Format format{std::move(file), Serializer<T>::Identity().ToString(), {}};
  for (auto& [label, value] : labelled) {
    std::string bytes = ToBytes(value);
    const auto reads_back = [value = value](std::string_view stored) {
      const absl::StatusOr<T> read = FromBytes<T>(stored);
      return read.ok() && Equal(*read, value);
    };
    format.samples.push_back({label, std::move(bytes), reads_back});
  }
  return format;
}

template <typename T>
Format Integers(std::string file) {
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kMax = std::numeric_limits<T>::max();
  std::vector<std::pair<std::string, T>> labelled;
  for (const T value : {kMin, T{1}, static_cast<T>(kMax - 1), kMax}) {
    labelled.emplace_back(std::to_string(value), value);
  }
  return Values<T>(std::move(file), labelled);
}

template <typename T>
Format Floats(std::string file) {
  using Limits = std::numeric_limits<T>;
  return Values<T>(std::move(file), {{"0", T{0}},
                                     {"-2.5", T{-2.5}},
                                     {"smallest above 0", Limits::denorm_min()},
                                     {"largest", Limits::max()},
                                     {"-infinity", -Limits::infinity()}});
}

TestMessage Message() {
  TestMessage message;
  message.set_id(5);
  message.set_name("ab");
  message.add_samples(1.5);
  (*message.mutable_counts())["b"] = -2;
  (*message.mutable_counts())["a"] = 1;
  return message;
}

}  // namespace

std::vector<Format> SerializerFormats() {
  const std::string zero("a\0b", 3);
  return {
      Integers<std::int8_t>("int8"),
      Integers<std::uint8_t>("uint8"),
      Integers<std::int16_t>("int16"),
      Integers<std::uint16_t>("uint16"),
      Integers<std::int32_t>("int32"),
      Integers<std::uint32_t>("uint32"),
      Integers<std::int64_t>("int64"),
      Integers<std::uint64_t>("uint64"),
      Floats<float>("float32"),
      Floats<double>("float64"),
      Values<bool>("bool", {{"false", false}, {"true", true}}),
      Values<std::string>("string",
                          {{"''", ""}, {"'ab'", "ab"}, {"'a', 0, 'b'", zero}}),
      Values<std::optional<std::string>>(
          "optional", {{"none", std::nullopt}, {"''", ""}, {"'ab'", "ab"}}),
      Values<std::pair<std::string, std::int32_t>>("pair",
                                                   {{"'ab', 1", {"ab", 1}}}),
      Values<std::tuple<bool, std::string, std::optional<double>>>(
          "tuple", {{"true, 'ab', none", {true, "ab", std::nullopt}},
                    {"false, '', 1", {false, "", 1.0}}}),
      Values<std::array<std::string, 2>>("array", {{"'ab', ''", {"ab", ""}}}),
      Values<std::vector<std::int16_t>>("vector_of_fixed_size",
                                        {{"nothing", {}}, {"1, -1", {1, -1}}}),
      Values<std::vector<std::string>>(
          "vector", {{"'ab', ''", {"ab", ""}},
                     {"200 times 'x', 'y'", {std::string(200, 'x'), "y"}}}),
      Values<std::vector<bool>>("vector_of_bool",
                                {{"true, false", {true, false}}}),
      Values<std::map<std::string, std::int32_t>>(
          "map", {{"nothing", {}}, {"'aa': 1, 'b': 2", {{"b", 2}, {"aa", 1}}}}),
      Values<std::map<std::int8_t, std::vector<std::string>>>(
          "map_of_vectors", {{"1: ['x'], -1: []", {{-1, {}}, {1, {"x"}}}}}),
      Values<TestMessage>(
          "protobuf",
          {{"nothing", TestMessage()},
           {"id 5, name 'ab', samples [1.5], counts a: 1, b: -2", Message()}}),
      Values<Flight>("user_type",
                     {{"1, 'DTW', 66", {1, "DTW", 66.0}},
                      {"1700000000000, '', none", {1700000000000, "", {}}}}),
  };
}

}  // namespace mayfly::golden
