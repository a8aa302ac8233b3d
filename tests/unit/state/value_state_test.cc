#include "mayfly/state/value_state.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Text = ValueStateDescriptor<std::string>;
using Number = ValueStateDescriptor<std::int64_t>;

class ValueStateTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, ValueStateTest, AllSetups(), SetupName);

TEST_P(ValueStateTest, HoldsOneValuePerKey) {
  auto& state = shard_.Get(Text("value"));
  shard_->SetCurrentKey("a");
  EXPECT_EQ(Read(state), std::nullopt);
  Must(state.Update("one"));
  shard_->SetCurrentKey("b");
  EXPECT_EQ(Read(state), std::nullopt);
  Must(state.Update("two"));
  Must(state.Update("three"));
  shard_->SetCurrentKey("a");
  EXPECT_EQ(Read(state), "one");
  Must(state.Clear());
  Must(state.Clear());
  EXPECT_EQ(Read(state), std::nullopt);
  shard_->SetCurrentKey("b");
  EXPECT_EQ(Read(state), "three");
  EXPECT_EQ(shard_.CommittedEntries("value"), 1u);
}

TEST_P(ValueStateTest, ClearedAndSetAgainIsSet) {
  auto& state = shard_.Get(Text("value"));
  shard_->SetCurrentKey("a");
  Must(state.Update("one"));
  shard_.Commit();
  Must(state.Clear());
  Must(state.Update("two"));
  EXPECT_EQ(Read(state), "two");
  shard_.Commit();
  EXPECT_EQ(Read(state), "two");
  Must(state.Clear());
  EXPECT_EQ(shard_.CommittedEntries("value"), 0u);
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(ValueStateTest, WithoutACurrentKeyNothingWorks) {
  auto& state = shard_.Get(Text("value"));
  const auto refuses =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("state 'value'"), HasSubstr("SetCurrentKey")));
  EXPECT_THAT(state.Value(), refuses);
  EXPECT_THAT(state.Update("one"), refuses);
  EXPECT_THAT(state.Clear(), refuses);
}

TEST_P(ValueStateTest, WithoutTtlNothingExpires) {
  auto& state = shard_.Get(Text("value"));
  shard_->SetCurrentKey("a");
  Must(state.Update("one"));
  At(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Read(state), "one");
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(Read(state), "one");
  EXPECT_EQ(shard_.StoredEntries("value"), 1u);
}

TEST_P(ValueStateTest, Row97AnInfiniteTtlNeverExpires) {
  auto& state = shard_.Get(Describe<Text>(
      "value", StateTtlConfig::NewInfiniteBuilder().Build().value()));
  shard_->SetCurrentKey("a");
  Must(state.Update("one"));
  At(std::numeric_limits<std::int64_t>::max());
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(Read(state), "one");
}

TEST_P(ValueStateTest, Row105ExpiresAtTheInstantAndNotBefore) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(100)));
  At(1000);
  for (const char* const key : {"at 1099", "at 1100", "at 1101"}) {
    shard_->SetCurrentKey(key);
    Must(state.Update("one"));
  }
  At(1099);
  shard_->SetCurrentKey("at 1099");
  EXPECT_EQ(Read(state), "one");
  At(1100);
  shard_->SetCurrentKey("at 1100");
  EXPECT_EQ(Read(state), std::nullopt);
  At(1101);
  shard_->SetCurrentKey("at 1101");
  EXPECT_EQ(Read(state), std::nullopt);
  // What a read finds expired it removes: the first key's value is left.
  EXPECT_EQ(shard_.CommittedEntries("value"), 1u);
}

TEST_P(ValueStateTest, CaseC01FifteenYearsAreFifteenYears) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(473'040'000'000)));
  At(1'700'000'000'000);
  shard_->SetCurrentKey("k");
  Must(state.Update("v"));
  for (const TimestampMs now_ms : {1'700'000'060'000, 2'173'039'999'999}) {
    At(now_ms);
    shard_.Commit();
    Must(shard_->Compact());
    EXPECT_EQ(Read(state), "v");
    EXPECT_EQ(shard_.StoredEntries("value"), 1u);
  }
  At(2'173'040'000'000);
  EXPECT_EQ(Read(state), std::nullopt);
  EXPECT_EQ(shard_.CommittedEntries("value"), 0u);
}

TEST_P(ValueStateTest, UpdatesRenewAndReadsDoNot) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(100)));
  shard_->SetCurrentKey("k");
  Must(state.Update("one"));
  At(60);
  Must(state.Update("two"));
  At(159);
  EXPECT_EQ(Read(state), "two");
  At(160);
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(ValueStateTest, ExpiredIsNotRevivedByAnUpdateUnderAnyVisibility) {
  auto& state = shard_.Get(Describe<Text>(
      "value", Ttl(100, UpdateType::kOnCreateAndWrite,
                   StateVisibility::kReturnExpiredIfNotCleanedUp)));
  shard_->SetCurrentKey("k");
  Must(state.Update("old"));
  At(100);
  Must(state.Update("new"));
  EXPECT_EQ(Read(state), "new");
  At(200);
  EXPECT_EQ(Read(state), "new");  // Once.
  EXPECT_EQ(Read(state), std::nullopt);
}

// With a granularity of 10 ms a value is renewed once it is 10 ms old.
TEST_P(ValueStateTest, GranularityBoundsHowOftenReadsRenew) {
  auto& state = shard_.Get(Describe<Text>(
      "value", TtlBuilder(100)
                   .SetUpdateType(UpdateType::kOnReadAndWrite)
                   .SetRefreshGranularity(std::chrono::milliseconds(10))
                   .Build()
                   .value()));
  shard_->SetCurrentKey("k");
  Must(state.Update("v"));
  At(9);
  EXPECT_EQ(Read(state), "v");  // Still stamped 0.
  At(100);
  EXPECT_EQ(Read(state), std::nullopt);

  Must(state.Update("w"));
  At(110);
  EXPECT_EQ(Read(state), "w");  // Stamped 110.
  At(209);
  EXPECT_EQ(Read(state), "w");
}

TEST_P(ValueStateTest, Row107AClockThatStepsBackRevivesNothing) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(100)));
  shard_->SetCurrentKey("k");
  Must(state.Update("v"));
  At(150);
  auto& other = shard_.Get(Describe<Text>("other", Ttl(100)));
  EXPECT_EQ(Read(other), std::nullopt);  // The shard has seen 150.
  At(20);
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(ValueStateTest, CaseC07AClockThatStepsBackDeletesNothing) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(10'000)));
  At(1'700'000'100'000);
  shard_->SetCurrentKey("k");
  Must(state.Update("v"));
  for (const TimestampMs now_ms : {1'700'000'000'000, 1'700'000'109'999}) {
    At(now_ms);
    EXPECT_EQ(Read(state), "v");
    shard_.Commit();
    Must(shard_->Compact());
    EXPECT_EQ(shard_.StoredEntries("value"), 1u);
  }
  At(1'700'000'110'000);
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(ValueStateTest, CaseC38BinaryKeysAndValuesAreWhole) {
  auto& state = shard_.Get(Text("value"));
  const std::string keys[] = {std::string("a\0b", 3), "a",
                              std::string("a\0", 2), std::string("\0", 1), ""};
  for (int i = 0; i < 5; ++i) {
    shard_->SetCurrentKey(keys[i]);
    Must(state.Update(std::string(1, static_cast<char>('1' + i)) + '\0'));
  }
  shard_.Commit();
  Must(shard_->Compact());
  shard_.Reopen();
  auto& restored = shard_.Get(Text("value"));
  shard_->SetCurrentKey("a");
  Must(restored.Clear());
  shard_.Commit();
  for (int i = 0; i < 5; ++i) {
    shard_->SetCurrentKey(keys[i]);
    const auto expected =
        i == 1
            ? std::nullopt
            : std::optional(std::string(1, static_cast<char>('1' + i)) + '\0');
    EXPECT_EQ(Read(restored), expected) << i;
  }
}

// Written again every half TTL it never expires.
TEST_P(ValueStateTest, Row119ReadModifyWriteKeepsItAlive) {
  auto& state = shard_.Get(Describe<Number>("value", Ttl(100)));
  shard_->SetCurrentKey("k");
  for (int i = 0; i < 10; ++i) {
    At(50 * i);
    EXPECT_EQ(Read(state).value_or(0), i);
    Must(state.Update(i + 1));
    if (i % 3 == 0) shard_.Commit();
  }
  At(550);  // The last was at 450.
  EXPECT_EQ(Read(state), std::nullopt);
}

// Two keys that were reported to collide under a common hash, and many others.
TEST_P(ValueStateTest, CaseC41KeysAreTheirValuesNotTheirHashes) {
  Shard<std::int64_t> shard(GetParam());
  auto* state = &shard.Get(Describe<Number>("value", Ttl(100)));
  const auto put = [&](std::int64_t key) {
    shard->SetCurrentKey(key);
    Must(state->Update(key + 1));
  };
  put(391);
  put(32'728);
  for (std::int64_t key = 100'000; key < 130'000; ++key) {
    put(key);
    if (key % 500 == 0) shard.Commit();
  }
  shard->SetCurrentKey(391);
  Must(state->Clear());
  shard.Commit();
  shard.Reopen();
  state = &shard.Get(Describe<Number>("value", Ttl(100)));
  shard->SetCurrentKey(391);
  EXPECT_EQ(Read(*state), std::nullopt);
  shard->SetCurrentKey(32'728);
  EXPECT_EQ(Read(*state), 32'729);
  for (std::int64_t key = 100'000; key < 130'000; ++key) {
    shard->SetCurrentKey(key);
    ASSERT_EQ(Read(*state), key + 1);
  }
}

TEST_P(ValueStateTest, CaseC32HugeValuesComeBackWhole) {
  auto& state = shard_.Get(
      Describe<Text>("value", Ttl(100, UpdateType::kOnReadAndWrite)));
  const std::size_t sizes[] = {4'194'303, 4'194'304, 4'194'305, 67'108'864};
  for (const std::size_t size : sizes) {
    shard_->SetCurrentKey(std::to_string(size));
    Must(state.Update(std::string(size, 'a') + "end"));
  }
  shard_.Commit();
  At(50);
  Must(shard_->Compact());
  shard_.Reopen();
  auto& restored = shard_.Get(
      Describe<Text>("value", Ttl(100, UpdateType::kOnReadAndWrite)));
  for (const std::size_t size : sizes) {
    shard_->SetCurrentKey(std::to_string(size));
    const std::string* const value = restored.Value().value();  // Renews.
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(value->size(), size + 3);
    EXPECT_TRUE(value->ends_with("aend"));
    EXPECT_EQ(value->find_first_not_of('a'), size);
  }
  At(149);
  EXPECT_EQ(shard_.CommittedEntries("value"), 4u);
  EXPECT_NE(restored.Value().value(), nullptr);
}

}  // namespace
}  // namespace mayfly::state_test
