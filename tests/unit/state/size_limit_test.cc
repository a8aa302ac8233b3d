// Case C32: what would not fit into one stored entry is refused before anything
// is written, whatever its kind.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

// A value that claims the memory that it would take.
struct Claims {
  std::uint64_t bytes = 0;
  std::string text;
  std::size_t MemoryBytes() const { return bytes; }
};

constexpr std::uint64_t kLargest = 2'147'483'647;

}  // namespace
}  // namespace mayfly::state_test

template <>
struct mayfly::Serializer<mayfly::state_test::Claims> {
  using Claims = mayfly::state_test::Claims;

  static SerializerIdentity Identity() { return {"test.Claims", 1}; }
  static void Serialize(const Claims& value, std::string& out) {
    AppendFields(out, value.bytes, value.text);
  }
  static absl::Status Deserialize(std::string_view bytes, Claims& value) {
    return ReadFields(bytes, value.bytes, value.text);
  }
};

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SizeLimitTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  SizeLimitTest() { shard_->SetCurrentKey("k"); }

  static auto Refused(std::uint64_t bytes) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    AllOf(HasSubstr("state 'state'"),
                          HasSubstr(std::to_string(bytes) +
                                    " bytes exceeds the limit of 2147483647"),
                          HasSubstr("split it")));
  }

  Shard<> shard_{GetParam()};
  const std::uint64_t too_large_[2] = {kLargest + 1, std::uint64_t{1} << 32};
};

INSTANTIATE_TEST_SUITE_P(Backends, SizeLimitTest, BothBackends(), SetupName);

TEST_P(SizeLimitTest, OfValues) {
  auto& state = shard_.Get(ValueStateDescriptor<Claims>("state"));
  Must(state.Update({kLargest, "before"}));
  for (const std::uint64_t bytes : too_large_) {
    EXPECT_THAT(state.Update({bytes, "too large"}), Refused(bytes));
    EXPECT_EQ(state.Value().value()->text, "before");
  }
}

TEST_P(SizeLimitTest, OfListElements) {
  auto& state = shard_.Get(ListStateDescriptor<Claims>("state"));
  Must(state.Add({kLargest, "before"}));
  for (const std::uint64_t bytes : too_large_) {
    const Claims fits{1, "fits"};
    const Claims too_large{bytes, "too large"};
    EXPECT_THAT(state.Add(too_large), Refused(bytes));
    EXPECT_THAT(state.AddAll({fits, too_large}), Refused(bytes));
    EXPECT_THAT(state.Update({fits, too_large}), Refused(bytes));
    const ListRange<Claims> elements = state.Get().value();
    ASSERT_EQ(elements.size(), 1u);
    EXPECT_EQ(elements[0].text, "before");
  }
}

TEST_P(SizeLimitTest, OfMapEntries) {
  auto& state = shard_.Get(MapStateDescriptor<int, Claims>("state"));
  Must(state.Put(1, {kLargest, "before"}));
  for (const std::uint64_t bytes : too_large_) {
    EXPECT_THAT(state.Put(1, {bytes, "too large"}), Refused(bytes));
    EXPECT_THAT(state.Put(2, {bytes, "too large"}), Refused(bytes));
    EXPECT_EQ(state.Get(1).value()->text, "before");
    EXPECT_THAT(state.Contains(2), IsOkAndHolds(false));
  }
}

}  // namespace
}  // namespace mayfly::state_test
