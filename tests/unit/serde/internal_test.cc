// The helpers under mayfly/serde/internal/.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/internal/malformed.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/internal/varint.h"
#include "mayfly/serde/status_macros.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::Hex;
using serde_test::Unhex;

TEST(Varint, HasItsExactBytes) {
  const struct {
    std::uint32_t value;
    const char* hex;
  } rows[] = {
      {0, "00"},
      {1, "01"},
      {127, "7f"},
      {128, "8001"},
      {300, "ac02"},
      {16383, "ff7f"},
      {16384, "808001"},
      {1u << 21, "80808001"},
      {1u << 28, "8080808001"},
      {UINT32_MAX, "ffffffff0f"},
  };
  for (const auto& row : rows) {
    std::string out;
    serde_internal::AppendVarint32(row.value, out);
    EXPECT_EQ(Hex(out), row.hex);
    const std::string bytes = Unhex(row.hex) + "rest";
    std::string_view rest = bytes;
    EXPECT_EQ(serde_internal::ReadVarint32(rest), row.value);
    EXPECT_EQ(rest, "rest");
  }
}

TEST(Varint, RefusesWhatIsMalformed) {
  for (const char* const hex :
       {"", "80", "ffffffff", "8000", "ff00", "ffffffff10", "ffffffff8f00",
        "8080808000", "ffffffffff01"}) {
    const std::string bytes = Unhex(hex);
    std::string_view rest = bytes;
    EXPECT_EQ(serde_internal::ReadVarint32(rest), std::nullopt) << hex;
  }
}

TEST(LengthPrefixed, TakesExactlyTheLength) {
  const std::string bytes = Unhex("02 6162 63");
  std::string_view rest = bytes;
  EXPECT_EQ(serde_internal::ReadLengthPrefixed(rest), "ab");
  EXPECT_EQ(rest, "c");
  EXPECT_EQ(serde_internal::ReadLengthPrefixed(rest), std::nullopt);
}

TEST(LengthDeathTest, AbortsBeyond32Bits) {
  std::string out;
  EXPECT_DEATH(serde_internal::AppendLength(std::size_t{UINT32_MAX} + 1, out),
               "longer than a stored length can say");
}

TEST(BigEndian, RoundTripsEveryWidth) {
  std::string out;
  serde_internal::AppendBigEndian(std::uint8_t{0x01}, out);
  serde_internal::AppendBigEndian(std::uint16_t{0x0203}, out);
  serde_internal::AppendBigEndian(std::uint32_t{0x84050607}, out);
  EXPECT_EQ(Hex(out),
            "01"
            "0203"
            "84050607");
  EXPECT_EQ(serde_internal::ReadBigEndian<std::uint32_t>(out.substr(3)),
            0x84050607u);
}

absl::Status Fail() { return absl::DataLossError("bad"); }

absl::Status ReturnIfError(const absl::Status& status, bool& passed) {
  MAYFLY_RETURN_IF_ERROR(status);
  passed = true;
  return absl::CancelledError();
}

TEST(StatusMacros, ReturnIfErrorReturnsOnlyErrors) {
  bool passed = false;
  EXPECT_EQ(ReturnIfError(Fail(), passed), Fail());
  EXPECT_FALSE(passed);
  EXPECT_EQ(ReturnIfError(absl::OkStatus(), passed), absl::CancelledError());
  EXPECT_TRUE(passed);
}

// Moves the value, reuses a variable and takes commas in the expression.
absl::StatusOr<int> SumOf(absl::StatusOr<std::unique_ptr<int>> a,
                          absl::StatusOr<std::pair<int, int>> b) {
  MAYFLY_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, std::move(a));
  int second = 0;
  MAYFLY_ASSIGN_OR_RETURN(std::tie(second, std::ignore),
                          absl::StatusOr<std::pair<int, int>>(std::move(b)));
  return *first + second;
}

TEST(StatusMacros, AssignOrReturn) {
  EXPECT_EQ(SumOf(std::make_unique<int>(1), std::pair(2, 0)).value(), 3);
  EXPECT_EQ(SumOf(Fail(), std::pair(2, 0)).status(), Fail());
  EXPECT_EQ(SumOf(std::make_unique<int>(1), Fail()).status(), Fail());
}

TEST(StringViewBridge, KeepsTheBytes) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(ToStd(ToAbsl(text)), text);
  EXPECT_EQ(ToAbsl(text).data(), text.data());
  EXPECT_TRUE((std::is_same_v<decltype(ToStd("")), std::string_view>));
}

TEST(Malformed, MessagesNameTheFacts) {
  EXPECT_EQ(serde_internal::TrailingBytes(3),
            absl::DataLossError("3 bytes follow the end of the value"));
  // A user's serializer may fail with another code, which stays.
  EXPECT_EQ(serde_internal::InPart("field", 2, absl::InternalError("x")),
            absl::InternalError("field 2: x"));
}

TEST(CheckDeathTest, PrintsWhereAndWhy) {
  MAYFLY_CHECK(true);
  MAYFLY_CHECK(true, "unused");
  EXPECT_DEATH(MAYFLY_CHECK(1 + 1 == 3),
               "internal_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
  EXPECT_DEATH(MAYFLY_CHECK(false, "the reason"),
               "check failed: false: the reason");
}

}  // namespace
}  // namespace mayfly
