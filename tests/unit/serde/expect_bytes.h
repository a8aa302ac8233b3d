// Expectations on the bytes of serializers.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/serializer_contract.h"
#include "tests/unit/serde/hex.h"

namespace mayfly::serde_test {

// The value is written as these bytes, which read back as the value.
template <typename T>
void ExpectBytes(const T& value, std::string_view hex) {
  EXPECT_EQ(Hex(ToBytes(value)), Hex(Unhex(hex)));
  const absl::StatusOr<T> back = FromBytes<T>(Unhex(hex));
  ASSERT_TRUE(back.ok()) << hex << ": " << back.status();
  EXPECT_EQ(*back, value);
}

// No T has these bytes.
template <typename T>
void ExpectDataLoss(std::string_view hex, std::string_view message) {
  const absl::Status status = FromBytes<T>(Unhex(hex)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << hex;
  EXPECT_EQ(ToStd(status.message()), message) << hex;
}

}  // namespace mayfly::serde_test
