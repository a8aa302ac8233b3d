// What holds for the serializer of every type, tried on random values.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "mayfly/serde/serializer.h"
#include "tests/unit/serde/arbitrary.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::Draw;
using serde_test::Hex;
using serde_test::Rng;

constexpr std::uint64_t kSeed = 42;
constexpr int kRounds = 300;

template <typename T>
class SerializerPropertyTest : public ::testing::Test {
 protected:
  Rng rng_{kSeed};
  ::testing::ScopedTrace trace_{__FILE__, __LINE__,
                                "seed " + std::to_string(kSeed)};
};

using Types = ::testing::Types<
    bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
    std::uint32_t, std::int64_t, std::uint64_t, float, double, std::string,
    std::optional<std::string>, std::optional<std::optional<std::int16_t>>,
    std::pair<std::string, std::int32_t>, std::pair<std::int8_t, double>,
    std::tuple<std::string, std::string, bool>,
    std::array<std::optional<std::string>, 3>, std::vector<std::int64_t>,
    std::vector<bool>, std::vector<std::vector<std::string>>,
    std::map<std::int32_t, std::string>,
    std::unordered_map<std::string, std::vector<float>>,
    absl::flat_hash_map<std::string, std::map<std::string, bool>>,
    std::vector<std::tuple<std::string, std::optional<std::int64_t>,
                           std::map<std::string, std::vector<double>>>>>;
TYPED_TEST_SUITE(SerializerPropertyTest, Types);

TYPED_TEST(SerializerPropertyTest, RoundTrips) {
  for (int i = 0; i < kRounds; ++i) {
    const auto value = Draw<TypeParam>(this->rng_);
    const std::string bytes = ToBytes(value);
    const absl::StatusOr<TypeParam> back = FromBytes<TypeParam>(bytes);
    ASSERT_TRUE(back.ok()) << back.status() << " " << Hex(bytes);
    ASSERT_TRUE(*back == value) << Hex(bytes);
    ASSERT_EQ(Hex(ToBytes(*back)), Hex(bytes));
  }
}

// What keys need: bytes are equal exactly if values are.
TYPED_TEST(SerializerPropertyTest, DifferentValuesGiveDifferentBytes) {
  for (int i = 0; i < kRounds; ++i) {
    const auto a = Draw<TypeParam>(this->rng_);
    const auto b = Draw<TypeParam>(this->rng_);
    ASSERT_EQ(ToBytes(a) == ToBytes(b), a == b)
        << Hex(ToBytes(a)) << " " << Hex(ToBytes(b));
  }
}

TYPED_TEST(SerializerPropertyTest, AppendsToWhatIsThere) {
  for (int i = 0; i < kRounds; ++i) {
    const auto value = Draw<TypeParam>(this->rng_);
    std::string out = "before";
    Serializer<TypeParam>::Serialize(value, out);
    ASSERT_EQ(Hex(out), Hex("before" + ToBytes(value)));
  }
}

TYPED_TEST(SerializerPropertyTest, FixedSizeIsKept) {
  if constexpr (FixedSize<TypeParam>) {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_EQ(ToBytes(Draw<TypeParam>(this->rng_)).size(),
                Serializer<TypeParam>::kFixedSize);
    }
  }
}

// Cut, stretched or altered bytes are either refused with kDataLoss or are just
// what the value they are read as would be written as.
TYPED_TEST(SerializerPropertyTest, DamagedBytesAreRefusedOrMeanThemselves) {
  const auto check = [](const std::string& damaged) {
    const absl::StatusOr<TypeParam> back = FromBytes<TypeParam>(damaged);
    if (!back.ok()) {
      ASSERT_EQ(back.status().code(), absl::StatusCode::kDataLoss);
      ASSERT_FALSE(back.status().message().empty());
    } else {
      ASSERT_EQ(Hex(ToBytes(*back)), Hex(damaged));
    }
  };
  for (int i = 0; i < kRounds; ++i) {
    const std::string bytes = ToBytes(Draw<TypeParam>(this->rng_));
    check(bytes + "x");
    if (bytes.empty()) continue;
    check(bytes.substr(0, this->rng_() % bytes.size()));
    for (int j = 0; j < 4; ++j) {
      std::string damaged = bytes;
      damaged[this->rng_() % bytes.size()] = static_cast<char>(this->rng_());
      check(damaged);
    }
  }
}

}  // namespace
}  // namespace mayfly
