#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mayfly/serde/fields.h"
#include "mayfly/serde/serializer.h"
#include "tests/unit/serde/flight.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {

// A user's type of fixed size.
struct Point {
  std::int16_t x = 0;
  std::int16_t y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};

template <>
struct Serializer<Point> {
  static constexpr std::size_t kFixedSize =
      kFieldsSize<std::int16_t, std::int16_t>;

  static SerializerIdentity Identity() { return {"test.Point", 1}; }
  static void Serialize(const Point& point, std::string& out) {
    AppendFields(out, point.x, point.y);
  }
  static absl::Status Deserialize(std::string_view bytes, Point& point) {
    return ReadFields(bytes, point.x, point.y);
  }
};

// Breaks its word about its size.
struct Liar {};

template <>
struct Serializer<Liar> {
  static constexpr std::size_t kFixedSize = 2;
  static SerializerIdentity Identity() { return {"test.Liar", 1}; }
  static void Serialize(const Liar&, std::string& out) { out += "abc"; }
  static absl::Status Deserialize(std::string_view, Liar&) {
    return absl::OkStatus();
  }
};

namespace {

using serde_test::Flight;
using serde_test::Hex;
using serde_test::Unhex;

TEST(UserType, IsItsFields) {
  const Flight flight{1, "DTW", 66.0};
  const std::string bytes = ToBytes(flight);
  EXPECT_EQ(Hex(bytes), Hex(Unhex("0000000000000001"
                                  "03 445457"
                                  "09 01 4050800000000000")));
  EXPECT_EQ(FromBytes<Flight>(bytes).value(), flight);
}

TEST(UserType, NestsLikeAnyOther) {
  using Value = std::vector<std::pair<Flight, Point>>;
  const Value value = {{{1, "A", {}}, {1, 2}}};
  const std::string bytes = ToBytes(value);
  EXPECT_EQ(Hex(bytes), Hex(Unhex("01 11"
                                  "0c 0000000000000001 01 41 01 00"
                                  "0001 0002")));
  EXPECT_EQ(FromBytes<Value>(bytes).value(), value);
  EXPECT_EQ((Serializer<Value>::Identity().ToString()),
            "vector<pair<test.Flight@3,test.Point@1>@1>@1");
}

TEST(UserType, SaysWhichFieldIsMalformed) {
  EXPECT_EQ(
      FromBytes<Flight>(Unhex("0000000000000001 01 41 02 01 00")).status(),
      absl::DataLossError("field 2: float64 takes 8 bytes, 1 are there"));
}

TEST(UserType, OfFixedSizeIsWrittenBare) {
  static_assert(FixedSize<Point>);
  EXPECT_EQ(Hex(ToBytes(std::vector<Point>{{1, 2}, {3, 4}})),
            "02"
            "00010002"
            "00030004");
}

TEST(UserTypeDeathTest, WrongFixedSizeAborts) {
  EXPECT_DEATH(ToBytes(std::vector<Liar>(1)),
               "another size than its kFixedSize");
}

TEST(SerializerIdentity, ComparesNameAndVersion) {
  EXPECT_EQ((SerializerIdentity{"a", 1}), (SerializerIdentity{"a", 1}));
  EXPECT_NE((SerializerIdentity{"a", 1}), (SerializerIdentity{"a", 2}));
  EXPECT_NE((SerializerIdentity{"a", 1}), (SerializerIdentity{"b", 1}));
  EXPECT_EQ((SerializerIdentity{"a.B", 12}).ToString(), "a.B@12");
}

}  // namespace
}  // namespace mayfly
