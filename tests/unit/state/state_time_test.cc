// Which clock states age by, and how often they look at it.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class StateTimeTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  static StateTtlConfig EventTime(std::int64_t ttl_ms) {
    return TtlBuilder(ttl_ms)
        .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
        .Build()
        .value();
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, StateTimeTest, AllSetups(), SetupName);

// --- One reading of the clock per operation ---

// A clock that moves with every reading, as real ones do.
class CountingClock final : public TtlClock {
 public:
  TimestampMs NowMs() const override { return 1000 + 60 * readings_++; }
  int TakeReadings() { return std::exchange(readings_, 0); }

 private:
  mutable int readings_ = 0;
};

class OneReadingTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  OneReadingTest() {
    shard_.options.processing_clock = clock_;
    shard_.Reopen();
  }

  // How often `operation` looked at the clock.
  template <typename Operation>
  int Readings(Operation operation) {
    clock_->TakeReadings();
    operation();
    return clock_->TakeReadings();
  }

  const std::shared_ptr<CountingClock> clock_ =
      std::make_shared<CountingClock>();
  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, OneReadingTest, AllSetups(), SetupName);

TEST_P(OneReadingTest, ValueOperationsLookOnce) {
  auto& state = shard_.Get(
      Describe<Value>("value", Ttl(1'000'000, UpdateType::kOnReadAndWrite)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Readings([&] { Must(state.Update("v")); }), 1);
  EXPECT_EQ(Readings([&] { Must(state.Value().status()); }), 1);
  shard_.Commit();
  shard_->SetCurrentKey("other");
  EXPECT_EQ(Readings([&] { Must(state.Value().status()); }), 1);
  EXPECT_LE(Readings([&] { Must(state.Clear()); }), 1);
}

TEST_P(OneReadingTest, ListOperationsLookOnceHoweverLongTheList) {
  auto& state = shard_.Get(
      Describe<List>("list", Ttl(1'000'000, UpdateType::kOnReadAndWrite)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Readings([&] { Must(state.Add("1")); }), 1);
  EXPECT_EQ(Readings([&] { Must(state.AddAll({"2", "3", "4"})); }), 1);
  EXPECT_EQ(Readings([&] { EXPECT_EQ(Read(state).size(), 4u); }), 1);
  EXPECT_EQ(Readings([&] { Must(state.Update({"1", "2"})); }), 1);
  EXPECT_LE(Readings([&] { Must(state.AddAll({})); }), 1);
  EXPECT_LE(Readings([&] { Must(state.Clear()); }), 1);
}

TEST_P(OneReadingTest, MapOperationsLookOnceHoweverLargeTheMap) {
  auto& state = shard_.Get(
      Describe<Map>("map", Ttl(1'000'000, UpdateType::kOnReadAndWrite)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Readings([&] { Must(state.Put("a", "1")); }), 1);
  Must(state.Put("b", "2"));
  EXPECT_EQ(Readings([&] { Must(state.Get("a").status()); }), 1);
  EXPECT_EQ(Readings([&] { Must(state.Contains("b").status()); }), 1);
  EXPECT_EQ(Readings([&] { EXPECT_EQ(Read(state).size(), 2u); }), 1);
  EXPECT_EQ(Readings([&] { Must(state.IsEmpty().status()); }), 1);
  EXPECT_LE(Readings([&] { Must(state.Remove("a")); }), 1);
  EXPECT_LE(Readings([&] { Must(state.Clear()); }), 1);
}

// The elements would expire between two readings, were there two.
TEST_P(OneReadingTest, NothingExpiresHalfWayThroughAnOperation) {
  auto& state =
      shard_.Get(Describe<List>("list", Ttl(100, UpdateType::kOnReadAndWrite)));
  shard_->SetCurrentKey("k");
  Must(state.AddAll({"1", "2", "3"}));
  EXPECT_THAT(Read(state), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Read(state), ElementsAre("1", "2", "3"));
}

TEST_P(OneReadingTest, AStateWithoutTtlNeverLooks) {
  auto& value = shard_.Get(Value("value"));
  auto& list = shard_.Get(List("list"));
  auto& map = shard_.Get(Map("map"));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Readings([&] {
              Must(value.Update("v"));
              Must(list.Add("1"));
              Must(map.Put("a", "1"));
              Read(value);
              Read(list);
              Read(map);
            }),
            0);
}

// --- Event time ---

TEST_P(StateTimeTest, EventTimeMovesWithTheWatermarkAlone) {
  auto& value = shard_.Get(Describe<Value>("value", EventTime(100)));
  auto& list = shard_.Get(Describe<List>("list", EventTime(100)));
  auto& map = shard_.Get(Describe<Map>("map", EventTime(100)));
  auto& processing = shard_.Get(Describe<Value>("processing", Ttl(100)));
  shard_->SetCurrentKey("k");
  shard_->AdvanceWatermark(1000);
  EXPECT_EQ(shard_->watermark(), 1000);
  Must(value.Update("v"));
  Must(list.Add("1"));
  Must(map.Put("a", "1"));
  Must(processing.Update("p"));

  // The machine's clock is nothing to them.
  shard_.clock().SetMs(1'000'000);
  EXPECT_EQ(Read(value), "v");
  EXPECT_EQ(Read(processing), std::nullopt);

  shard_->AdvanceWatermark(1099);
  EXPECT_EQ(Read(value), "v");
  EXPECT_THAT(Read(list), ElementsAre("1"));
  EXPECT_THAT(Read(map), ElementsAre(Pair("a", "1")));
  shard_->AdvanceWatermark(1100);
  EXPECT_EQ(Read(value), std::nullopt);
  EXPECT_THAT(Read(list), IsEmpty());
  EXPECT_THAT(Read(map), IsEmpty());
}

TEST_P(StateTimeTest, AnEarlierWatermarkChangesNothing) {
  auto& value = shard_.Get(Describe<Value>("value", EventTime(100)));
  shard_->SetCurrentKey("k");
  shard_->AdvanceWatermark(1000);
  shard_->AdvanceWatermark(500);
  EXPECT_EQ(shard_->watermark(), 1000);
  Must(value.Update("v"));
  shard_->AdvanceWatermark(1099);
  EXPECT_EQ(Read(value), "v");
}

TEST_P(StateTimeTest, Row133DowntimeCountsInProcessingTimeOnly) {
  auto& processing = shard_.Get(Describe<Value>("processing", Ttl(100)));
  auto& event = shard_.Get(Describe<Value>("event", EventTime(100)));
  shard_->SetCurrentKey("k");
  shard_->AdvanceWatermark(70);
  Must(processing.Update("p"));
  Must(event.Update("e"));
  shard_.Commit();

  shard_.clock().SetMs(1000);
  shard_.Reopen();
  EXPECT_EQ(shard_->watermark(), 70);
  auto& processing_restored =
      shard_.Get(Describe<Value>("processing", Ttl(100)));
  auto& event_restored = shard_.Get(Describe<Value>("event", EventTime(100)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(processing_restored), std::nullopt);
  EXPECT_EQ(Read(event_restored), "e");
  shard_->AdvanceWatermark(169);
  EXPECT_EQ(Read(event_restored), "e");
  shard_->AdvanceWatermark(170);
  EXPECT_EQ(Read(event_restored), std::nullopt);
}

TEST_P(StateTimeTest, TheWatermarkOfACrashedRunIsThatOfItsCommit) {
  shard_.Get(Describe<Value>("event", EventTime(100)));
  shard_->AdvanceWatermark(70);
  shard_.Commit();
  shard_->AdvanceWatermark(500);
  shard_.Reopen();
  EXPECT_EQ(shard_->watermark(), 70);
}

// --- Time over a restart ---

TEST_P(StateTimeTest, CaseC13AnEarlierClockAfterARestartDoesNothing) {
  const Value descriptor =
      Describe<Value>("value", Ttl(60'000, UpdateType::kOnReadAndWrite));
  shard_.clock().SetMs(1'700'000'500'000);
  auto* state = &shard_.Get(descriptor);
  for (int key = 0; key < 100; ++key) {
    shard_->SetCurrentKey(std::to_string(key));
    Must(state->Update("v"));
  }
  shard_.Commit();

  shard_.clock().SetMs(1'699'999'000'000);
  shard_.Reopen();
  state = &shard_.Get(descriptor);
  const auto count = [&] {
    int live = 0;
    for (int key = 0; key < 100; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      live += Read(*state).has_value() ? 1 : 0;
    }
    return live;
  };
  EXPECT_EQ(count(), 100);
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(shard_.StoredEntries("value"), 100u);
  // The larger time was kept: their stamps are 1'700'000'500'000 still.
  shard_.clock().SetMs(1'700'000'560'000);
  EXPECT_EQ(count(), 0);
}

TEST_P(StateTimeTest, Row86AnHourIsAnHour) {
  auto& state = shard_.Get(
      Describe<ValueStateDescriptor<std::int32_t>>("value", Ttl(3'600'000)));
  shard_->SetCurrentKey("k");
  Must(state.Update(42));
  shard_.clock().SetMs(3'599'999);
  EXPECT_EQ(Read(state), 42);
  shard_.clock().SetMs(3'600'001);
  EXPECT_EQ(Read(state), std::nullopt);
}

// --- Boundaries pinned by Flink's SQL operators, as pure TTL rows ---

struct BoundaryRow {
  int row;
  std::int64_t ttl_ms;
  std::vector<TimestampMs> writes_ms;
  TimestampMs read_ms;
  bool live;
};

TEST_P(StateTimeTest, Rows94To101Boundaries) {
  const BoundaryRow rows[] = {
      {94, 4000, {1}, 4000, true},        {94, 4000, {1}, 4001, false},
      {95, 4000, {1, 4000}, 7999, true},  {95, 4000, {1, 4000}, 8000, false},
      {96, 1000, {1}, 3000, false},       {96, 4000, {1}, 4001, false},
      {96, 4000, {1, 3000}, 6999, true},  {96, 4000, {1, 3000}, 7000, false},
      {98, 2000, {1}, 2000, true},        {98, 2000, {1}, 2001, false},
      {99, 2000, {1, 1, 1}, 2001, false}, {100, 1000, {1}, 1000, true},
      {100, 1000, {1}, 1001, false},      {101, 1000, {1}, 1002, false},
  };
  for (const BoundaryRow& row : rows) {
    SCOPED_TRACE(::testing::Message() << row.row << " at " << row.read_ms);
    Shard<> shard(GetParam());
    auto& state = shard.Get(Describe<Value>("value", Ttl(row.ttl_ms)));
    shard->SetCurrentKey("k");
    for (const TimestampMs write_ms : row.writes_ms) {
      shard.clock().SetMs(write_ms);
      Must(state.Update("v"));
      shard.Commit();
    }
    shard.clock().SetMs(row.read_ms);
    EXPECT_EQ(Read(state).has_value(), row.live);
  }
}

}  // namespace
}  // namespace mayfly::state_test
