// Reducing and aggregating state.
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/aggregating_state.h"
#include "mayfly/state/reducing_state.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Sum = ReducingStateDescriptor<std::int64_t>;

// Values, their sum and count, their mean.
using Average = AggregatingStateDescriptor<
    std::int64_t, std::pair<std::int64_t, std::int64_t>, std::string>;

std::int64_t Add(const std::int64_t& a, const std::int64_t& b) { return a + b; }

Average::Function MeanFunction() {
  return {.add =
              [](const std::int64_t& value, auto& accumulator) {
                accumulator.first += value;
                ++accumulator.second;
              },
          .get_result =
              [](const auto& accumulator) {
                return std::to_string(accumulator.first / accumulator.second) +
                       " of " + std::to_string(accumulator.second);
              }};
}

class AccumulatorStateTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  ReducingState<std::int64_t>& GetSum(
      const std::optional<StateTtlConfig>& ttl = std::nullopt) {
    Sum descriptor("sum", Add);
    if (ttl) descriptor.EnableTimeToLive(*ttl);
    return shard_.Get(descriptor);
  }

  AggregatingState<std::int64_t, std::string>& GetMean(
      const std::optional<StateTtlConfig>& ttl = std::nullopt) {
    Average descriptor("mean", MeanFunction());
    if (ttl) descriptor.EnableTimeToLive(*ttl);
    return shard_.Get(descriptor);
  }

  static std::optional<std::int64_t> Read(ReducingState<std::int64_t>& state) {
    const std::int64_t* const value = state.Get().value();
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  static std::optional<std::string> Read(
      AggregatingState<std::int64_t, std::string>& state) {
    return state.Get().value();
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, AccumulatorStateTest, AllSetups(), SetupName);

TEST_P(AccumulatorStateTest, FoldsPerKey) {
  auto& sum = GetSum();
  auto& mean = GetMean();
  for (const char* key : {"a", "b"}) {
    shard_->SetCurrentKey(key);
    EXPECT_EQ(Read(sum), std::nullopt);
    EXPECT_EQ(Read(mean), std::nullopt);
  }
  for (const std::int64_t value : {1, 2, 6}) {
    shard_->SetCurrentKey("a");
    Must(sum.Add(value));
    Must(mean.Add(value));
    shard_->SetCurrentKey("b");
    Must(sum.Add(-value));
  }
  EXPECT_EQ(Read(sum), -9);
  EXPECT_EQ(Read(mean), std::nullopt);
  shard_->SetCurrentKey("a");
  EXPECT_EQ(Read(sum), 9);
  EXPECT_EQ(Read(mean), "3 of 3");
  Must(sum.Clear());
  Must(mean.Clear());
  EXPECT_EQ(Read(sum), std::nullopt);
  EXPECT_EQ(Read(mean), std::nullopt);
  EXPECT_EQ(shard_.CommittedEntries("sum"), 1u);
  EXPECT_EQ(shard_.StoredEntries("mean"), 0u);
}

TEST_P(AccumulatorStateTest, GoesOnFromTheLastCommit) {
  shard_->SetCurrentKey("a");
  Must(GetSum().Add(5));
  Must(GetMean().Add(5));
  shard_.Commit();
  Must(GetSum().Add(100));
  Must(GetMean().Add(100));
  shard_.Reopen();
  shard_->SetCurrentKey("a");
  Must(GetSum().Add(2));
  Must(GetMean().Add(1));
  EXPECT_EQ(Read(GetSum()), 7);
  EXPECT_EQ(Read(GetMean()), "3 of 2");
}

// The row's two branches, each on a key of its own.
TEST_P(AccumulatorStateTest, CaseC20StartsAfreshOverWhatHasExpired) {
  auto& sum = GetSum(Ttl(100));
  auto& mean = GetMean(Ttl(100));
  for (const char* key : {"99", "100"}) {
    shard_->SetCurrentKey(key);
    Must(sum.Add(5));
    Must(mean.Add(5));
  }
  shard_.Commit();
  Must(shard_->Compact());
  At(99);
  shard_->SetCurrentKey("99");
  Must(sum.Add(3));
  Must(mean.Add(3));
  At(100);
  shard_->SetCurrentKey("100");
  Must(sum.Add(3));
  Must(mean.Add(3));
  EXPECT_EQ(Read(mean), "3 of 1");
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(Read(sum), 3);
  At(198);
  shard_->SetCurrentKey("99");
  EXPECT_EQ(Read(sum), 8);
  EXPECT_EQ(Read(mean), "4 of 2");
  At(199);
  EXPECT_EQ(Read(sum), std::nullopt);
  EXPECT_EQ(Read(mean), std::nullopt);
  shard_->SetCurrentKey("100");
  EXPECT_EQ(Read(sum), 3);
  At(200);
  EXPECT_EQ(Read(sum), std::nullopt);
}

TEST_P(AccumulatorStateTest, Row118AddNeverRevivesWhatHasExpired) {
  const StateTtlConfig shows =
      Ttl(100, UpdateType::kOnCreateAndWrite,
          StateVisibility::kReturnExpiredIfNotCleanedUp);
  auto& sum = GetSum(shows);
  auto& mean = GetMean(shows);
  shard_->SetCurrentKey("a");
  Must(sum.Add(5));
  Must(mean.Add(5));
  At(100);
  Must(sum.Add(1));
  EXPECT_EQ(Read(sum), 1);
  // A read shows what has expired once more, and only a read.
  EXPECT_EQ(Read(mean), "5 of 1");
  EXPECT_EQ(Read(mean), std::nullopt);
}

// Case C11: a clock that is wrong for a while takes nothing away.
TEST_P(AccumulatorStateTest, CaseC11AddsToWhatAJumpHides) {
  At(1'700'000'000'000);
  auto& sum = GetSum(Ttl(60'000));
  auto& mean = GetMean(Ttl(60'000));
  shard_->SetCurrentKey("a");
  Must(sum.Add(5));
  Must(mean.Add(5));
  shard_.clock().JumpToMs(4'102'444'800'000);
  EXPECT_EQ(Read(sum), std::nullopt);
  Must(sum.Add(3));
  Must(mean.Add(3));
  shard_.clock().JumpToMs(1'700'000'001'000);
  EXPECT_EQ(Read(sum), 8);
  EXPECT_EQ(Read(mean), "4 of 2");
}

TEST_P(AccumulatorStateTest, Row119LivesAsLongAsSomethingIsAdded) {
  auto& sum = GetSum(Ttl(100));
  shard_->SetCurrentKey("a");
  for (int i = 0; i < 20; ++i) {
    At(50 * i);
    Must(sum.Add(1));
  }
  EXPECT_EQ(Read(sum), 20);
}

TEST_P(AccumulatorStateTest, ReadsRenewUnderReadAndWrite) {
  auto& sum = GetSum(Ttl(100, UpdateType::kOnReadAndWrite));
  auto& mean = GetMean(Ttl(100, UpdateType::kOnReadAndWrite));
  shard_->SetCurrentKey("a");
  Must(sum.Add(1));
  Must(mean.Add(1));
  At(99);
  EXPECT_EQ(Read(sum), 1);
  EXPECT_EQ(Read(mean), "1 of 1");
  At(198);
  EXPECT_EQ(Read(sum), 1);
  EXPECT_EQ(Read(mean), "1 of 1");
  At(298);
  EXPECT_EQ(Read(sum), std::nullopt);
}

TEST_P(AccumulatorStateTest, AFunctionThatThrowsIsAnError) {
  auto& sum = shard_.Get(
      Sum("sum", [](const std::int64_t&, const std::int64_t&) -> std::int64_t {
        throw std::runtime_error("no luck");
      }));
  Average::Function function = MeanFunction();
  function.add = [](const std::int64_t& value, auto& accumulator) {
    ++accumulator.second;
    if (value < 0) throw std::runtime_error("negative");
  };
  auto& mean = shard_.Get(Average("mean", function));
  shard_->SetCurrentKey("a");
  Must(sum.Add(1));
  EXPECT_THAT(sum.Add(2), StatusIs(absl::StatusCode::kInternal,
                                   "the reduce function threw: no luck"));
  EXPECT_EQ(Read(sum), 1);

  EXPECT_THAT(mean.Add(-1), StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(Read(mean), std::nullopt);
  Must(mean.Add(1));
  EXPECT_THAT(mean.Add(-1), StatusIs(absl::StatusCode::kInternal,
                                     "the aggregate function threw: negative"));
  // As the function left it, and so it is committed.
  EXPECT_EQ(Read(mean), "0 of 2");
  shard_.Commit();
  shard_.Reopen();
  shard_->SetCurrentKey("a");
  EXPECT_EQ(Read(GetMean()), "0 of 2");
}

TEST_P(AccumulatorStateTest, AResultThatThrowsIsAnError) {
  Average::Function function = MeanFunction();
  function.get_result = [](const auto&) -> std::string {
    throw std::runtime_error("no luck");
  };
  auto& mean = shard_.Get(Average("mean", function));
  shard_->SetCurrentKey("a");
  Must(mean.Add(1));
  EXPECT_THAT(mean.Get(), StatusIs(absl::StatusCode::kInternal,
                                   "get_result threw: no luck"));
}

TEST_P(AccumulatorStateTest, WithoutAFunctionThereIsNoState) {
  EXPECT_THAT(shard_->GetState(Sum("sum", nullptr)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'sum' lacks a function")));
  Average::Function function = MeanFunction();
  function.create_accumulator = nullptr;
  EXPECT_THAT(shard_->GetState(Average("mean", function)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'mean' lacks a function")));
}

TEST_P(AccumulatorStateTest, Row125IsNoOtherKindOfState) {
  GetSum();
  EXPECT_THAT(
      shard_->GetState(ValueStateDescriptor<std::int64_t>("sum")),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("reducing state"), HasSubstr("value state"))));
  shard_->SetCurrentKey("a");
  Must(GetSum().Add(1));
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(ValueStateDescriptor<std::int64_t>("sum")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("StateMigration"), HasSubstr("reducing"),
                             HasSubstr("value"))));
}

TEST_P(AccumulatorStateTest, WithoutACurrentKeyNothingWorks) {
  const auto refuses = StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("SetCurrentKey"));
  auto& sum = GetSum();
  EXPECT_THAT(sum.Get(), refuses);
  EXPECT_THAT(sum.Add(1), refuses);
  EXPECT_THAT(sum.Clear(), refuses);
  auto& mean = GetMean();
  EXPECT_THAT(mean.Get(), refuses);
  EXPECT_THAT(mean.Add(1), refuses);
  EXPECT_THAT(mean.Clear(), refuses);
}

}  // namespace
}  // namespace mayfly::state_test
