#include "mayfly/serde/scalar_serializers.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/unit/serde/expect_bytes.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::ExpectBytes;
using serde_test::ExpectDataLoss;
using serde_test::Hex;

TEST(IntegerSerializer, IsBigEndianTwosComplement) {
  ExpectBytes<std::int8_t>(-1, "ff");
  ExpectBytes<std::int8_t>(-128, "80");
  ExpectBytes<std::uint8_t>(255, "ff");
  ExpectBytes<std::int16_t>(-2, "fffe");
  ExpectBytes<std::uint16_t>(0x0102, "0102");
  // As Kafka's IntegerSerializer and LongSerializer.
  ExpectBytes<std::int32_t>(0, "00000000");
  ExpectBytes<std::int32_t>(1, "00000001");
  ExpectBytes<std::int32_t>(-1, "ffffffff");
  ExpectBytes<std::int32_t>(std::numeric_limits<std::int32_t>::min(),
                            "80000000");
  ExpectBytes<std::int64_t>(0x0102030405060708, "0102030405060708");
  ExpectBytes<std::int64_t>(std::numeric_limits<std::int64_t>::min(),
                            "8000000000000000");
  ExpectBytes<std::uint32_t>(0xdeadbeef, "deadbeef");
  ExpectBytes<std::uint64_t>(std::numeric_limits<std::uint64_t>::max(),
                             "ffffffffffffffff");
}

TEST(FloatSerializer, IsBigEndianIeee754) {
  ExpectBytes<float>(1.0f, "3f800000");
  ExpectBytes<float>(-std::numeric_limits<float>::infinity(), "ff800000");
  ExpectBytes<double>(1.0, "3ff0000000000000");
  ExpectBytes<double>(-2.5, "c004000000000000");
  ExpectBytes<double>(std::numeric_limits<double>::denorm_min(),
                      "0000000000000001");
}

TEST(FloatSerializer, KeepsEveryBit) {
  for (const std::uint64_t bits :
       {0x8000000000000000u, 0x7ff8000000000001u, 0xfff8deadbeef0000u}) {
    const std::string bytes = ToBytes(std::bit_cast<double>(bits));
    const absl::StatusOr<double> back = FromBytes<double>(bytes);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*back), bits);
  }
}

TEST(BoolSerializer, IsZeroOrOne) {
  ExpectBytes<bool>(false, "00");
  ExpectBytes<bool>(true, "01");
  ExpectDataLoss<bool>("02", "bool is neither 0 nor 1");
  ExpectDataLoss<bool>("ff", "bool is neither 0 nor 1");
}

TEST(StringSerializer, IsTheBytesThemselves) {
  ExpectBytes<std::string>("", "");
  ExpectBytes<std::string>("ab", "6162");
  ExpectBytes<std::string>(std::string("a\0b\xFF", 4), "610062ff");
}

template <typename T>
class NumberSizeTest : public ::testing::Test {};

using Numbers = ::testing::Types<bool, std::int8_t, std::uint8_t, std::int16_t,
                                 std::uint16_t, std::int32_t, std::uint32_t,
                                 std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(NumberSizeTest, Numbers);

TYPED_TEST(NumberSizeTest, AnyOtherSizeIsDataLoss) {
  constexpr std::size_t kSize = Serializer<TypeParam>::kFixedSize;
  static_assert(kSize == sizeof(TypeParam));
  const std::string takes = Serializer<TypeParam>::Identity().name + " takes " +
                            std::to_string(kSize) + " bytes, ";
  for (std::size_t size = 0; size <= kSize + 2; ++size) {
    const std::string bytes(size, '\0');
    if (size == kSize) {
      EXPECT_EQ(FromBytes<TypeParam>(bytes).value(), TypeParam{});
    } else {
      ExpectDataLoss<TypeParam>(Hex(bytes),
                                takes + std::to_string(size) + " are there");
    }
  }
}

TEST(ScalarIdentity, NamesSizeNotSpelling) {
  EXPECT_EQ(Serializer<std::int8_t>::Identity().ToString(), "int8@1");
  EXPECT_EQ(Serializer<short>::Identity().ToString(), "int16@1");
  EXPECT_EQ(Serializer<unsigned>::Identity().ToString(), "uint32@1");
  EXPECT_EQ(Serializer<long>::Identity(), Serializer<std::int64_t>::Identity());
  EXPECT_EQ(Serializer<long long>::Identity().ToString(), "int64@1");
  EXPECT_EQ(Serializer<float>::Identity().ToString(), "float32@1");
  EXPECT_EQ(Serializer<double>::Identity().ToString(), "float64@1");
  EXPECT_EQ(Serializer<bool>::Identity().ToString(), "bool@1");
  EXPECT_EQ(Serializer<std::string>::Identity().ToString(), "string@1");
}

TEST(ScalarSerializer, LeavesOutWhatDiffersBetweenPlatforms) {
  static_assert(!Serializable<char>);
  static_assert(!Serializable<wchar_t>);
  static_assert(!Serializable<long double>);
  static_assert(!Serializable<const char*>);
  static_assert(!Serializable<std::string_view>);
  static_assert(!FixedSize<std::string>);
}

}  // namespace
}  // namespace mayfly
