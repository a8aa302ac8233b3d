#include "mayfly/serde/composite_serializers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "gtest/gtest.h"
#include "mayfly/serde/scalar_serializers.h"
#include "tests/unit/serde/expect_bytes.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::ExpectBytes;
using serde_test::ExpectDataLoss;
using serde_test::Unhex;

TEST(OptionalSerializer, IsFlagThenValue) {
  ExpectBytes<std::optional<std::int32_t>>(std::nullopt, "00");
  ExpectBytes<std::optional<std::int32_t>>(5, "01 00000005");
  ExpectBytes<std::optional<std::string>>("", "01");
  ExpectBytes<std::optional<std::string>>("a", "01 61");
  ExpectBytes<std::optional<std::optional<bool>>>(
      std::optional<bool>(std::nullopt), "01 00");
}

TEST(OptionalSerializer, RefusesWhatIsMalformed) {
  using Optional = std::optional<std::int32_t>;
  ExpectDataLoss<Optional>("", "optional without its flag byte");
  ExpectDataLoss<Optional>("02", "flag of optional is neither 0 nor 1");
  ExpectDataLoss<Optional>("00 61", "1 bytes follow the end of the value");
  ExpectDataLoss<Optional>("01 0000", "int32 takes 4 bytes, 2 are there");
  ExpectDataLoss<Optional>("01 0000000000", "int32 takes 4 bytes, 5 are there");
}

TEST(OptionalSerializer, ReplacesWhatWasThere) {
  std::optional<std::int32_t> value = 7;
  ASSERT_TRUE(
      Serializer<decltype(value)>::Deserialize(Unhex("00"), value).ok());
  EXPECT_EQ(value, std::nullopt);
}

TEST(PairSerializer, IsBothFields) {
  ExpectBytes<std::pair<std::int16_t, bool>>({-1, true}, "ffff 01");
  ExpectBytes<std::pair<std::string, std::int8_t>>({"ab", 1}, "02 6162 01");
  ExpectBytes<std::pair<std::string, std::string>>({"", "b"}, "00 01 62");
}

TEST(TupleSerializer, IsItsFieldsInOrder) {
  ExpectBytes<std::tuple<std::int8_t>>({3}, "03");
  ExpectBytes<std::tuple<std::int8_t, std::string, std::optional<bool>>>(
      {3, "ab", true}, "03 02 6162 02 01 01");
  // Fixed sizes within fixed sizes stay bare; others get a length at each step.
  ExpectBytes<std::tuple<std::pair<bool, bool>, bool>>({{true, false}, true},
                                                       "01 00 01");
  ExpectBytes<std::tuple<std::pair<bool, std::string>, bool>>(
      {{true, "a"}, true}, "03 01 01 61 01");
}

TEST(ArraySerializer, IsItsElements) {
  ExpectBytes<std::array<std::int16_t, 3>>({1, 2, 3}, "0001 0002 0003");
  ExpectBytes<std::array<std::string, 2>>({"a", ""}, "01 61 00");
  ExpectDataLoss<std::array<std::int16_t, 3>>(
      "0001 0002 00", "field 2: cut off, or its length is malformed");
}

TEST(CompositeSerializers, FixedSizeIsTheSum) {
  static_assert(Serializer<std::pair<std::int32_t, bool>>::kFixedSize == 5);
  static_assert(
      Serializer<std::tuple<double, std::pair<bool, bool>>>::kFixedSize == 10);
  static_assert(Serializer<std::array<std::int16_t, 3>>::kFixedSize == 6);
  static_assert(!FixedSize<std::pair<std::int32_t, std::string>>);
  static_assert(!FixedSize<std::tuple<bool, std::optional<bool>>>);
  static_assert(!FixedSize<std::array<std::string, 2>>);
  static_assert(!FixedSize<std::optional<bool>>);
}

TEST(CompositeSerializers, NeedSerializableParts) {
  struct Unknown {};
  static_assert(!Serializable<std::optional<Unknown>>);
  static_assert(!Serializable<std::pair<bool, Unknown>>);
  static_assert(!Serializable<std::tuple<Unknown, bool>>);
  static_assert(!Serializable<std::array<Unknown, 2>>);
  static_assert(!Serializable<std::tuple<>>);
}

TEST(CompositeSerializers, SayWhichFieldIsMalformed) {
  using Pair = std::pair<std::string, std::int32_t>;
  ExpectDataLoss<Pair>("", "field 0: cut off, or its length is malformed");
  ExpectDataLoss<Pair>("02 61", "field 0: cut off, or its length is malformed");
  ExpectDataLoss<Pair>("8100 61 00000001",
                       "field 0: cut off, or its length is malformed");
  ExpectDataLoss<Pair>("01 61 000000",
                       "field 1: cut off, or its length is malformed");
  ExpectDataLoss<Pair>("01 61 00000001 00",
                       "1 bytes follow the end of the value");
  ExpectDataLoss<std::pair<bool, std::pair<std::string, bool>>>(
      "00 02 00 07", "field 1: field 1: bool is neither 0 nor 1");
}

// A field of a length that takes two or three bytes moves to make room.
TEST(CompositeSerializers, LongFieldsGetLongLengths) {
  for (const std::size_t size : {127u, 128u, 16'383u, 16'384u, 3'000'000u}) {
    using Value = std::pair<std::string, bool>;
    const Value value(std::string(size, 'x'), true);
    const std::string bytes = ToBytes(value);
    const std::size_t length_bytes = size < 128        ? 1
                                     : size < 16384    ? 2
                                     : size < 1u << 21 ? 3
                                                       : 4;
    EXPECT_EQ(bytes.size(), length_bytes + size + 1);
    EXPECT_EQ(FromBytes<Value>(bytes).value(), value);
  }
}

TEST(CompositeIdentity, NamesThePartsAndTheirVersions) {
  EXPECT_EQ(Serializer<std::optional<std::string>>::Identity().ToString(),
            "optional<string@1>@1");
  EXPECT_EQ((Serializer<std::pair<bool, std::string>>::Identity().ToString()),
            "pair<bool@1,string@1>@1");
  EXPECT_EQ(
      (Serializer<
           std::tuple<bool, std::optional<float>, std::int8_t>>::Identity()
           .ToString()),
      "tuple<bool@1,optional<float32@1>@1,int8@1>@1");
  EXPECT_EQ((Serializer<std::array<bool, 3>>::Identity().ToString()),
            "array<bool@1,3>@1");
}

}  // namespace
}  // namespace mayfly
