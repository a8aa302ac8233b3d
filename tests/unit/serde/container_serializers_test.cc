#include "mayfly/serde/container_serializers.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "mayfly/serde/composite_serializers.h"
#include "mayfly/serde/scalar_serializers.h"
#include "tests/unit/serde/expect_bytes.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {

// Takes no bytes at all.
struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};

template <>
struct Serializer<Nothing> {
  static constexpr std::size_t kFixedSize = 0;
  static SerializerIdentity Identity() { return {"test.Nothing", 1}; }
  static void Serialize(const Nothing&, std::string&) {}
  static absl::Status Deserialize(std::string_view bytes, Nothing&) {
    return bytes.empty() ? absl::OkStatus()
                         : absl::DataLossError("something in Nothing");
  }
};

// Gives different keys the same bytes, which no key may do.
struct Alike {
  int id = 0;
  friend bool operator<(const Alike& a, const Alike& b) { return a.id < b.id; }
};

template <>
struct Serializer<Alike> {
  static SerializerIdentity Identity() { return {"test.Alike", 1}; }
  static void Serialize(const Alike&, std::string& out) { out += "same"; }
  static absl::Status Deserialize(std::string_view, Alike&) {
    return absl::OkStatus();
  }
};

namespace {

using serde_test::ExpectBytes;
using serde_test::ExpectDataLoss;
using serde_test::Hex;
using serde_test::Unhex;

constexpr std::string_view kBadCount =
    "malformed count, or one that exceeds the bytes after it";

TEST(VectorSerializer, IsCountThenElements) {
  ExpectBytes<std::vector<std::int16_t>>({}, "00");
  ExpectBytes<std::vector<std::int16_t>>({1, -1}, "02 0001 ffff");
  ExpectBytes<std::vector<std::string>>({"ab", "", "c"}, "03 02 6162 00 01 63");
  ExpectBytes<std::vector<bool>>({true, false, true}, "03 01 00 01");
  ExpectBytes<std::vector<std::vector<bool>>>({{true}, {}},
                                              "02 02 01 01 01 00");
  ExpectBytes<std::vector<std::optional<std::int8_t>>>({1, std::nullopt},
                                                       "02 02 01 01 01 00");
}

TEST(VectorSerializer, CountTakesTwoBytesFrom128On) {
  const std::vector<std::uint8_t> value(200, 7);
  const std::string bytes = ToBytes(value);
  EXPECT_EQ(bytes.size(), 202u);
  EXPECT_EQ(Hex(bytes.substr(0, 3)), "c80107");
  EXPECT_EQ(FromBytes<std::vector<std::uint8_t>>(bytes).value(), value);
}

TEST(VectorSerializer, RefusesWhatIsMalformed) {
  using Ints = std::vector<std::int16_t>;
  ExpectDataLoss<Ints>("", kBadCount);
  ExpectDataLoss<Ints>("80", kBadCount);
  ExpectDataLoss<Ints>("8000", kBadCount);
  ExpectDataLoss<Ints>("02 0001", kBadCount);
  ExpectDataLoss<Ints>("02 0001 00", kBadCount);
  ExpectDataLoss<Ints>("01 0001 00", "1 bytes follow the end of the value");
  using Strings = std::vector<std::string>;
  ExpectDataLoss<Strings>("02 00", kBadCount);
  ExpectDataLoss<Strings>("02 00 01",
                          "element 1: cut off, or its length is malformed");
  ExpectDataLoss<std::vector<bool>>("02 01 02",
                                    "element 1: bool is neither 0 nor 1");
}

// A count of four billion in a few bytes must not reserve four billion.
TEST(VectorSerializer, HostileCountsReserveNothing) {
  std::vector<std::uint8_t> value;
  EXPECT_FALSE(
      Serializer<decltype(value)>::Deserialize(Unhex("ffffffff0f 0000"), value)
          .ok());
  EXPECT_EQ(value.capacity(), 0u);
  ExpectDataLoss<std::vector<Nothing>>("ffffffff0f", kBadCount);
  ExpectDataLoss<std::vector<std::vector<std::string>>>("ffffffff0f 00 00",
                                                        kBadCount);
  ExpectDataLoss<std::map<std::string, std::string>>("ffffffff0f 00 00",
                                                     kBadCount);
}

// Elements of no bytes take the byte of their length.
TEST(VectorSerializer, EmptyElementsTakeAByteEach) {
  static_assert(!FixedSize<Nothing>);
  ExpectBytes<std::vector<Nothing>>({{}, {}}, "02 00 00");
}

TEST(VectorSerializer, ReplacesWhatWasThere) {
  std::vector<std::string> value = {"old", "older", "oldest"};
  ASSERT_TRUE(
      Serializer<decltype(value)>::Deserialize(Unhex("01 01 61"), value).ok());
  EXPECT_EQ(value, (std::vector<std::string>{"a"}));
}

TEST(MapSerializer, IsCountThenEntriesByKeyBytes) {
  ExpectBytes<std::map<std::string, std::int8_t>>({}, "00");
  ExpectBytes<std::map<std::string, std::int8_t>>({{"b", 2}, {"a", 1}, {"", 0}},
                                                  "03 00 00 01 61 01 01 62 02");
  // -1 sorts before 1, and its bytes after.
  ExpectBytes<std::map<std::int8_t, std::string>>({{-1, "m"}, {1, "p"}},
                                                  "02 01 01 70 ff 01 6d");
}

TEST(MapSerializer, OrdersByTheKeyNotByItsLength) {
  ExpectBytes<std::map<std::string, bool>>({{"b", true}, {"aa", false}},
                                           "02 02 6161 00 01 62 01");
}

template <typename M>
class EveryMapTest : public ::testing::Test {};

using Maps = ::testing::Types<
    std::map<std::string, std::int32_t>,
    std::map<std::string, std::int32_t, std::greater<std::string>>,
    std::unordered_map<std::string, std::int32_t>,
    absl::btree_map<std::string, std::int32_t>,
    absl::flat_hash_map<std::string, std::int32_t>>;
TYPED_TEST_SUITE(EveryMapTest, Maps);

TYPED_TEST(EveryMapTest, EqualMapsGiveEqualBytes) {
  std::map<std::string, std::int32_t> plain;
  TypeParam forward;
  TypeParam backward;
  for (std::int32_t i = 0; i < 1000; ++i) {
    plain.emplace(std::to_string(i), i);
    forward.emplace(std::to_string(i), i);
    backward.emplace(std::to_string(999 - i), 999 - i);
  }
  const std::string bytes = ToBytes(plain);
  EXPECT_EQ(ToBytes(forward), bytes);
  EXPECT_EQ(ToBytes(backward), bytes);
  EXPECT_EQ(FromBytes<TypeParam>(bytes).value(), forward);
  EXPECT_EQ(Serializer<TypeParam>::Identity().ToString(),
            "map<string@1,int32@1>@1");
}

TEST(MapSerializer, RefusesWhatIsMalformed) {
  using Map = std::map<std::string, bool>;
  ExpectDataLoss<Map>("", kBadCount);
  ExpectDataLoss<Map>("02 00 00 01", kBadCount);
  ExpectDataLoss<Map>("02 01 61 00 01 61 01", "entry 1: keys do not ascend");
  ExpectDataLoss<Map>("02 01 62 00 01 61 01", "entry 1: keys do not ascend");
  ExpectDataLoss<Map>("01 02 61",
                      "entry 0: cut off, or its length is malformed");
  ExpectDataLoss<Map>("01 01 61",
                      "entry 0: cut off, or its length is malformed");
  ExpectDataLoss<Map>("01 01 61 07", "entry 0: bool is neither 0 nor 1");
  ExpectDataLoss<Map>("01 01 61 01 00", "1 bytes follow the end of the value");
  ExpectDataLoss<std::map<bool, bool>>("01 07 01",
                                       "entry 0: bool is neither 0 nor 1");
}

// Different bytes may still be equal keys: 0.0 and -0.0.
TEST(MapSerializer, EqualKeysOfDifferentBytesAreMalformed) {
  ExpectDataLoss<std::map<float, bool>>("02 00000000 00 80000000 00",
                                        "entry 1: the key occurs twice");
}

TEST(MapSerializerDeathTest, AbortsRatherThanWriteWhatNobodyCanRead) {
  const std::map<Alike, bool> map = {{Alike{1}, true}, {Alike{2}, true}};
  EXPECT_DEATH(ToBytes(map), "two keys of a map the same bytes");
}

TEST(ContainerSerializers, NeedSerializableElementsAndUniqueKeys) {
  struct Unknown {};
  static_assert(!Serializable<std::vector<Unknown>>);
  static_assert(!Serializable<std::map<int, Unknown>>);
  static_assert(!Serializable<std::multimap<int, int>>);
  static_assert(!Serializable<std::set<int>>);
  static_assert(!FixedSize<std::vector<int>>);
}

}  // namespace
}  // namespace mayfly
