// Cases C20, C37 and C62: values and accumulators that are folded, null or
// damaged.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/cases/five_states.h"
#include "tests/unit/state/raw_database.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::RawDatabase;
using state_test::Read;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Text = ValueStateDescriptor<std::string>;

constexpr UpdateType kWrite = UpdateType::kOnCreateAndWrite;
constexpr StateVisibility kShowExpired =
    StateVisibility::kReturnExpiredIfNotCleanedUp;

// --- C20: nothing is folded into what has expired ---

class FoldCases {
 public:
  FoldCases(const BackendSetup& setup, StateVisibility visibility)
      : shard_(setup) {
    auto sum = DescribeSum("sum");
    auto average = AverageFunction::Describe("average");
    sum.EnableTimeToLive(Ttl(100, kWrite, visibility));
    average.EnableTimeToLive(Ttl(100, kWrite, visibility));
    sum_ = &shard_.Get(sum);
    average_ = &shard_.Get(average);
    shard_->SetCurrentKey("k");
  }

  void Add(std::int64_t value) {
    Must(sum_->Add(value));
    Must(average_->Add(value));
  }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }
  void RemoveExpired() {
    cases::RemoveExpired(shard_);
    shard_->SetCurrentKey("k");
  }

  std::optional<std::int64_t> Sum() {
    const std::int64_t* const sum = sum_->Get().value();
    return sum == nullptr ? std::nullopt : std::optional(*sum);
  }
  std::optional<AverageFunction::Result> Average() {
    return average_->Get().value();
  }

 private:
  Shard<> shard_;
  ReducingState<std::int64_t>* sum_ = nullptr;
  AggregatingState<std::int64_t, AverageFunction::Result>* average_ = nullptr;
};

struct Branch {
  TimestampMs second_add_ms;
  std::int64_t sum;
  AverageFunction::Result average;
  TimestampMs expires_ms;
};

class ValueCasesTest : public ::testing::TestWithParam<BackendSetup> {};

INSTANTIATE_TEST_SUITE_P(Setups, ValueCasesTest, state_test::AllSetups(),
                         SetupName);

void ExpectBranch(FoldCases& states, const Branch& branch, bool removal_before,
                  bool removal_after) {
  states.Add(5);
  if (removal_before) states.RemoveExpired();
  states.At(branch.second_add_ms);
  if (removal_before) states.RemoveExpired();
  states.Add(3);
  if (removal_after) states.RemoveExpired();
  EXPECT_EQ(states.Sum(), branch.sum);
  EXPECT_EQ(states.Average(), branch.average);
  states.At(branch.expires_ms - 1);
  if (removal_after) states.RemoveExpired();
  EXPECT_EQ(states.Sum(), branch.sum);
  EXPECT_EQ(states.Average(), branch.average);
  states.At(branch.expires_ms);
}

TEST_P(ValueCasesTest, CaseC20AnExpiredAccumulatorIsBegunAnew) {
  const Branch branches[] = {{99, 8, {4.0, 2}, 199}, {100, 3, {3.0, 1}, 200}};
  for (const Branch& branch : branches) {
    for (const int removals : {0, 1, 2, 3}) {
      SCOPED_TRACE(::testing::Message()
                   << branch.second_add_ms << ", removals " << removals);
      FoldCases states(GetParam(), StateVisibility::kNeverReturnExpired);
      ExpectBranch(states, branch, (removals & 1) != 0, (removals & 2) != 0);
      EXPECT_EQ(states.Sum(), std::nullopt);
      EXPECT_EQ(states.Average(), std::nullopt);

      // Whatever a reader may see.
      FoldCases shown(GetParam(), kShowExpired);
      ExpectBranch(shown, branch, (removals & 1) != 0, (removals & 2) != 0);
      EXPECT_EQ(shown.Sum(), branch.sum);  // Once.
      EXPECT_EQ(shown.Sum(), std::nullopt);
    }
  }
}

// --- C37: null is said with Clear() ---

template <typename State>
concept TakesNull = requires(State& state) {
  state.Update(std::nullopt);
};
static_assert(!TakesNull<ValueState<std::string>>);

TEST_P(ValueCasesTest, CaseC37AClearedValueIsNotANullThatIsStored) {
  const Text descriptor =
      Describe<Text>("value", Ttl(100, kWrite, kShowExpired));
  Shard<> shard(GetParam());
  auto* state = &shard.Get(descriptor);
  shard->SetCurrentKey("k");
  Must(state->Update("x"));
  shard.Commit();
  shard.clock().SetMs(10);
  Must(state->Clear());
  shard.clock().SetMs(11);
  EXPECT_EQ(Read(*state), std::nullopt);
  EXPECT_EQ(shard.CommittedEntries("value"), 0u);
  shard.Reopen();
  state = &shard.Get(descriptor);
  shard->SetCurrentKey("k");
  EXPECT_EQ(Read(*state), std::nullopt);
  EXPECT_EQ(shard.StoredEntries("value"), 0u);
}

// --- C62: values that somebody else has written ---

class DamagedValueCasesTest : public ::testing::Test {
 protected:
  static constexpr TimestampMs kWritten = 1'700'000'000'000;
  using Nullable = MapStateDescriptor<std::string, std::optional<std::string>>;

  DamagedValueCasesTest() {
    Register();
    shard_.Commit();
    shard_.Close();
    RawDatabase raw(shard_.options.directory, RawDatabase::Access::kWrite);
    std::string bytes;
    AppendTimestamp(kWritten, bytes);
    bytes += "\1x";  // The null flag first, for a map.
    for (const std::size_t size : {0, 1, 7, 8, 9}) {
      // A value's ninth byte is its own.
      raw.Put("value", std::to_string(size),
              size < 9 ? bytes.substr(0, size) : bytes.substr(0, 8) + "x");
    }
    for (const std::size_t size : {0, 1, 7, 9, 10}) {
      raw.Put("map", "\1k" + std::to_string(size),
              size == 9 ? bytes.substr(0, 8) + '\0' : bytes.substr(0, size));
    }
  }

  void Register() {
    value_ = &shard_.Get(Describe<Text>("value", Ttl(60'000)));
    map_ = &shard_.Get(Describe<Nullable>("map", Ttl(60'000)));
  }

  // Compacts under a commit of that time.
  void CompactAt(TimestampMs now_ms) {
    shard_.clock().SetMs(now_ms);
    shard_.Commit();
    Must(shard_->Compact());
  }

  void ExpectDamaged() {
    const auto damaged =
        StatusIs(absl::StatusCode::kDataLoss,
                 AllOf(HasSubstr("state '"), HasSubstr("key 0x")));
    for (const char* const size : {"0", "1", "7"}) {
      shard_->SetCurrentKey(size);
      EXPECT_THAT(value_->Value(), damaged) << size;
      shard_->SetCurrentKey("k");
      EXPECT_THAT(map_->Get(size), damaged) << size;
    }
  }

  Shard<> shard_{state_test::kRocksdb, kWritten};
  ValueState<std::string>* value_ = nullptr;
  MapState<std::string, std::optional<std::string>>* map_ = nullptr;
};

TEST_F(DamagedValueCasesTest, CaseC62TheDamagedStayAndTheOthersExpire) {
  shard_.Reopen();
  Register();
  CompactAt(kWritten + 1);
  ExpectDamaged();
  shard_->SetCurrentKey("8");
  EXPECT_EQ(Read(*value_), "");
  shard_->SetCurrentKey("9");
  EXPECT_EQ(Read(*value_), "x");
  shard_->SetCurrentKey("k");
  EXPECT_EQ(*map_->Get("9").value(), std::nullopt);
  EXPECT_EQ(*map_->Get("10").value(), "x");

  CompactAt(kWritten + 60'000);
  ExpectDamaged();
  shard_.Close();
  RawDatabase raw(shard_.options.directory);
  EXPECT_EQ(raw.Records("value"), 3u);
  EXPECT_EQ(raw.Records("map"), 3u);
}

}  // namespace
}  // namespace mayfly::cases
