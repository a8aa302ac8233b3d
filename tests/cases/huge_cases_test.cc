// Case C32: what is huge comes back whole, and what is too large is refused
// before anything is written. tests/unit/state/size_limit_test.cc has the same
// of values, list elements and map entries.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/cases/five_states.h"

namespace mayfly::cases {
namespace {

// An accumulator that claims the memory that it would take.
struct Claims {
  std::uint64_t bytes = 0;
  std::string text;  // A type without any is asked for nothing.
  std::size_t MemoryBytes() const { return bytes; }
};

}  // namespace
}  // namespace mayfly::cases

template <>
struct mayfly::Serializer<mayfly::cases::Claims> {
  static SerializerIdentity Identity() { return {"test.Claims", 1}; }
  static void Serialize(const mayfly::cases::Claims& value, std::string& out) {
    AppendFields(out, value.bytes, value.text);
  }
  static absl::Status Deserialize(std::string_view bytes,
                                  mayfly::cases::Claims& value) {
    return ReadFields(bytes, value.bytes, value.text);
  }
};

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;

class HugeCasesTest : public ::testing::TestWithParam<BackendSetup> {};

INSTANTIATE_TEST_SUITE_P(Backends, HugeCasesTest, state_test::BothBackends(),
                         SetupName);

// Differs from one with any of its parts exchanged, lost or doubled.
std::string Patterned(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint64_t mixed = size;
  for (std::size_t i = 0; i < size; ++i) {
    mixed = mixed * 6364136223846793005U + 1442695040888963407U;
    bytes[i] = static_cast<char>(mixed >> 56);
  }
  return bytes;
}

TEST_P(HugeCasesTest, CaseC32HugeValuesAreTheSameToTheByte) {
  const Text descriptor =
      Describe<Text>("value", Ttl(100, UpdateType::kOnReadAndWrite));
  Shard<> shard(GetParam());
  auto* state = &shard.Get(descriptor);
  const std::size_t sizes[] = {4'194'303, 4'194'304, 4'194'305, 67'108'864};
  const auto expect_same = [&] {
    for (const std::size_t size : sizes) {
      shard->SetCurrentKey(std::to_string(size));
      const std::string* const value = state->Value().value();
      ASSERT_NE(value, nullptr) << size;
      ASSERT_TRUE(*value == Patterned(size)) << size;
    }
  };
  for (const std::size_t size : sizes) {
    shard->SetCurrentKey(std::to_string(size));
    Must(state->Update(Patterned(size)));
  }
  shard.clock().SetMs(60);
  expect_same();  // Renews.
  RemoveExpired(shard);
  shard.Reopen();
  state = &shard.Get(descriptor);
  shard.clock().SetMs(159);
  expect_same();
  EXPECT_EQ(shard.CommittedEntries("value"), 4u);
}

TEST_P(HugeCasesTest, CaseC32SixtyFourMergesOfAMebibyteAreAllThere) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  const Texts descriptor = Describe<Texts>("list", Ttl(100));
  // A commit for each: on heap every one would write the whole snapshot.
  const int elements_per_commit =
      GetParam().kind == BackendKind::kRocksdb ? 1 : 64;
  Shard<> shard(GetParam());
  auto& list = shard.Get(descriptor);
  for (int i = 0; i < 64; ++i) {
    shard->SetCurrentKey("k");
    Must(list.Add(std::string(kMebibyte, static_cast<char>(' ' + i))));
    if ((i + 1) % elements_per_commit == 0) shard.Commit();
  }
  RemoveExpired(shard);
  shard.Reopen();
  auto& restored = shard.Get(descriptor);
  shard->SetCurrentKey("k");
  const ListRange<std::string> range = restored.Get().value();
  ASSERT_EQ(range.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_EQ(range[i].size(), kMebibyte);
    ASSERT_EQ(range[i].find_first_not_of(static_cast<char>(' ' + i)),
              std::string::npos);
  }
}

constexpr std::uint64_t kTooLarge[] = {2'147'483'648, 4'294'967'296};

TEST_P(HugeCasesTest, CaseC32AReducedValueThatIsTooLargeIsRefused) {
  Shard<> shard(GetParam());
  auto& sum = shard.Get(ReducingStateDescriptor<Claims>(
      "sum", [](const Claims& a, const Claims& b) {
        return Claims{a.bytes + b.bytes, a.text + b.text};
      }));
  for (const std::uint64_t bytes : kTooLarge) {
    shard->SetCurrentKey(std::to_string(bytes));
    const auto refused = StatusIs(absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(sum.Add({bytes, {}}), refused);  // At once,
    EXPECT_EQ(sum.Get().value(), nullptr);
    Must(sum.Add({1000, "before"}));
    EXPECT_THAT(sum.Add({bytes - 1000, "more"}), refused);  // and as a sum.
    EXPECT_EQ(sum.Get().value()->bytes, 1000u);
    EXPECT_EQ(sum.Get().value()->text, "before");
  }
}

TEST_P(HugeCasesTest, CaseC32AnAccumulatorThatIsTooLargeIsRefused) {
  AggregateFunction<std::uint64_t, Claims, std::uint64_t> function;
  function.add = [](std::uint64_t bytes, Claims& claims) {
    claims.bytes += bytes;
  };
  function.get_result = [](const Claims& claims) { return claims.bytes; };
  Shard<> shard(GetParam());
  auto& sum = shard.Get(
      AggregatingStateDescriptor<std::uint64_t, Claims, std::uint64_t>(
          "sum", function));
  for (const std::uint64_t bytes : kTooLarge) {
    shard->SetCurrentKey(std::to_string(bytes));
    const auto refused = StatusIs(absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(sum.Add(bytes), refused);
    EXPECT_EQ(sum.Get().value(), std::nullopt);
  }
}

}  // namespace
}  // namespace mayfly::cases
