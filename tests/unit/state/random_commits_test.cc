// Random use of states of all kinds, while commits are begun, finished and cut
// off at random moments: what a restart finds is compared with a plain model.
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using Number = std::int64_t;

struct Stamped {
  Number value = 0;
  TimestampMs at_ms = 0;
};

// What a key holds, in all states.
struct Row {
  std::optional<Number> plain;
  // Renewed by reads.
  std::optional<Stamped> value;
  std::vector<Stamped> list;
  std::map<Number, Stamped> map;
  std::optional<Number> sum;
};

using Rows = std::map<Number, Row>;

class RandomCommitsTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  static constexpr std::int64_t kTtlMs = 1000;
  static constexpr Number kKeys = 1000;

  void Register() {
    const StateTtlConfig ttl = Ttl(kTtlMs);
    plain_ = &shard_.Get(ValueStateDescriptor<Number>("plain"));
    value_ = &shard_.Get(Describe<ValueStateDescriptor<Number>>(
        "value", Ttl(kTtlMs, UpdateType::kOnReadAndWrite)));
    list_ = &shard_.Get(Describe<ListStateDescriptor<Number>>("list", ttl));
    map_ = &shard_.Get(Describe<MapStateDescriptor<Number, Number>>(
        "map", Ttl(kTtlMs, UpdateType::kOnReadAndWrite)));
    sum_ = &shard_.Get(ReducingStateDescriptor<Number>(
        "sum", [](const Number& a, const Number& b) { return a + b; }));
  }

  Number Draw(Number below) {
    return std::uniform_int_distribution<Number>(0, below - 1)(random_);
  }

  bool IsExpired(const Stamped& entry) const {
    return entry.at_ms + kTtlMs <= now_ms_;
  }

  // Applies the TTL to a row, as of now.
  Row Visible(Row row) const {
    if (row.value && IsExpired(*row.value)) row.value.reset();
    std::erase_if(row.list, [&](const Stamped& e) { return IsExpired(e); });
    std::erase_if(row.map, [&](const auto& e) { return IsExpired(e.second); });
    return row;
  }

  void Operate(Row& row) {
    const Number drawn = Draw(1000);
    row = Visible(row);
    switch (Draw(16)) {
      case 0:
        Must(plain_->Update(drawn));
        row.plain = drawn;
        break;
      case 1:
        Must(plain_->Clear());
        row.plain.reset();
        break;
      case 2:
      case 3:
        Must(value_->Update(drawn));
        row.value = {drawn, now_ms_};
        break;
      case 4:
      case 5:
        ReadValue(row);
        break;
      case 6:
        Must(value_->Clear());
        row.value.reset();
        break;
      case 7:
      case 8:
        Must(list_->Add(drawn));
        row.list.push_back({drawn, now_ms_});
        break;
      case 9:
        Must(list_->Update({drawn, drawn + 1}));
        row.list = {{drawn, now_ms_}, {drawn + 1, now_ms_}};
        break;
      case 10:
        ReadList(row);
        break;
      case 11:
      case 12:
        Must(map_->Put(drawn % 4, drawn));
        row.map[drawn % 4] = {drawn, now_ms_};
        break;
      case 13:
        Must(map_->Remove(drawn % 4));
        row.map.erase(drawn % 4);
        break;
      case 14:
        WalkMap(row, /*remove=*/drawn % 2 == 0);
        break;
      default:
        Must(sum_->Add(drawn));
        row.sum = row.sum.value_or(0) + drawn;
        break;
    }
  }

  void ReadValue(Row& row) {
    const std::optional<Number> read = Read(*value_);
    ASSERT_EQ(read.has_value(), row.value.has_value());
    if (!read) return;
    ASSERT_EQ(*read, row.value->value);
    row.value->at_ms = now_ms_;
  }

  void ReadList(const Row& row) {
    std::vector<Number> expected;
    for (const Stamped& element : row.list) expected.push_back(element.value);
    ASSERT_EQ(Read(*list_), expected);
  }

  void WalkMap(Row& row, bool remove) {
    std::map<Number, Number> expected;
    for (auto& [key, entry] : row.map) {
      expected[key] = entry.value;
      entry.at_ms = now_ms_;
    }
    std::map<Number, Number> read;
    MapRange<Number, Number> range = map_->Entries().value();
    for (const auto& [key, value] : range) {
      read[key] = value;
      if (remove && value % 2 == 0) {
        row.map.erase(key);
        Must(range.RemoveCurrent());
      }
    }
    Must(range.status());
    ASSERT_EQ(read, expected);
  }

  void Restart() {
    if (shard_->committing()) begun_.reset();
    rows_ = committed_;
    shard_.Reopen();
    Register();
    for (Number key = 0; key < kKeys; ++key) {
      shard_->SetCurrentKey(key);
      Row& row = rows_[key] = Visible(rows_[key]);
      ASSERT_EQ(Read(*plain_), row.plain) << key;
      const Number* const sum = sum_->Get().value();
      ASSERT_EQ(sum == nullptr ? std::nullopt : std::optional(*sum), row.sum);
      ASSERT_NO_FATAL_FAILURE(ReadValue(row)) << key;
      ASSERT_NO_FATAL_FAILURE(ReadList(row)) << key;
      ASSERT_NO_FATAL_FAILURE(WalkMap(row, /*remove=*/false)) << key;
    }
  }

  void NoteIfComplete() {
    if (shard_->committing() || !begun_) return;
    committed_ = *std::exchange(begun_, std::nullopt);
  }

  void Commit() {
    switch (Draw(4)) {
      case 0:
        shard_.Commit();
        begun_ = rows_;
        break;
      case 1:
        Must(shard_->FinishCommit());
        break;
      default:
        // The one under way is complete by this.
        if (begun_) committed_ = *begun_;
        Must(shard_->BeginCommit());
        begun_ = rows_;
        break;
    }
    NoteIfComplete();
  }

  std::mt19937 random_;
  Shard<Number> shard_{GetParam()};
  TimestampMs now_ms_ = 0;
  ValueState<Number>* plain_ = nullptr;
  ValueState<Number>* value_ = nullptr;
  ListState<Number>* list_ = nullptr;
  MapState<Number, Number>* map_ = nullptr;
  ReducingState<Number>* sum_ = nullptr;

  Rows rows_;
  // As of the commit under way, and of the last complete one.
  std::optional<Rows> begun_;
  Rows committed_;
};

INSTANTIATE_TEST_SUITE_P(Setups, RandomCommitsTest, SomeSetups(), SetupName);

TEST_P(RandomCommitsTest, ARestartFindsTheLastCompleteOne) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    random_.seed(seed);
    shard_.options.directory += "x";
    rows_.clear();
    committed_.clear();
    begun_.reset();
    ASSERT_NO_FATAL_FAILURE(Restart());
    for (int step = 0; step < 20'000; ++step) {
      const Number key = Draw(kKeys);
      shard_->SetCurrentKey(key);
      ASSERT_NO_FATAL_FAILURE(Operate(rows_[key])) << seed << ": " << step;
      if (Draw(200) == 0) shard_.clock().SetMs(now_ms_ += Draw(30));
      if (Draw(500) == 0) Must(shard_->CleanUp(1000).status());
      if (Draw(300) == 0) shard_->StepCommit();
      if (Draw(200) == 0) Commit();
      if (Draw(1000) == 0) {
        ASSERT_NO_FATAL_FAILURE(Restart()) << seed << ": " << step;
      }
    }
  }
}

}  // namespace
}  // namespace mayfly::state_test
