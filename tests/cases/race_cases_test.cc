// Cases C16 and C17: no write falls between a check and the removal that
// follows it. In one thread, which a shard has;
// rocksdb_concurrency_cases_test.cc has them with compaction threads.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::Read;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;
using Number = ValueStateDescriptor<std::int64_t>;
using Numbers = ListStateDescriptor<std::int64_t>;
using NumberMap = MapStateDescriptor<std::int64_t, std::int64_t>;

// A value, a list and a map of numbers under one TTL.
class ThreeStates {
 public:
  ThreeStates(const BackendSetup& setup, const StateTtlConfig& ttl)
      : ttl_(ttl), shard_(setup) {
    Register();
  }

  void Restart() {
    shard_.Commit();
    shard_.Reopen();
    Register();
  }

  Shard<std::int64_t>& shard() { return shard_; }
  ValueState<std::int64_t>& value() { return *value_; }
  ListState<std::int64_t>& list() { return *list_; }
  MapState<std::int64_t, std::int64_t>& map() { return *map_; }

 private:
  void Register() {
    value_ = &shard_.Get(Describe<Number>("value", ttl_));
    list_ = &shard_.Get(Describe<Numbers>("list", ttl_));
    map_ = &shard_.Get(Describe<NumberMap>("map", ttl_));
  }

  const StateTtlConfig ttl_;
  Shard<std::int64_t> shard_;
  ValueState<std::int64_t>* value_ = nullptr;
  ListState<std::int64_t>* list_ = nullptr;
  MapState<std::int64_t, std::int64_t>* map_ = nullptr;
};

class RaceCasesTest : public ::testing::TestWithParam<BackendSetup> {};

INSTANTIATE_TEST_SUITE_P(Setups, RaceCasesTest, state_test::SomeSetups(),
                         SetupName);

// --- C16: a removal never takes what was written after its check ---

// A shard has one thread, so what comes between a check and its removal is
// other operations: a removal found by clean-up, or by a read, waits for the
// next commit, and so do writes.
class RemovalRaces {
 public:
  explicit RemovalRaces(const BackendSetup& setup)
      : states_(setup, state_test::TtlBuilder(100)
                           .CleanupIncrementally(1000, true)
                           .Build()
                           .value()) {}

  // Writes `number` while the key's old entries, which have expired, are read,
  // cleaned up and committed in any order; then looks for it.
  void Run(std::int64_t number) {
    states_.shard().clock().Advance(std::chrono::milliseconds(100));
    key_ = static_cast<std::int64_t>(random_() % 50);
    std::vector<std::function<void()>> steps = {
        [&] { Write(number); },
        [&] { Must(states_.shard()->CleanUp(1).status()); },
        [&] { Must(states_.shard()->CleanUp().status()); },
        [&] { ReadAll(); },
    };
    // On heap a commit writes a file, and no removal waits for it.
    if (states_.shard().options.kind == BackendKind::kRocksdb) {
      steps.emplace_back([&] { states_.shard().Commit(); });
      steps.emplace_back([&] { states_.shard().Commit(); });
    }
    if (number % 500 == 0) {
      steps.emplace_back([&] { Must(states_.shard()->Compact()); });
      steps.emplace_back([&] { states_.Restart(); });
    }
    std::shuffle(steps.begin(), steps.end(), random_);
    for (const auto& step : steps) step();
    Expect(number);
  }

 private:
  void SetKey() { states_.shard()->SetCurrentKey(key_); }

  void Write(std::int64_t number) {
    SetKey();
    Must(states_.value().Update(number));
    Must(states_.list().Add(number));
    Must(states_.map().Put(7, number));
  }
  void ReadAll() {
    SetKey();
    Read(states_.value());
    Read(states_.list());
    Read(states_.map());
  }
  void Expect(std::int64_t number) {
    SetKey();
    ASSERT_EQ(Read(states_.value()), number);
    ASSERT_THAT(Read(states_.list()), ElementsAre(number));
    ASSERT_THAT(Read(states_.map()), ElementsAre(Pair(7, number)));
  }

  ThreeStates states_;
  std::mt19937 random_{16};
  std::int64_t key_ = 0;
};

TEST_P(RaceCasesTest, CaseC16NoRemovalTakesALaterWrite) {
  RemovalRaces races(GetParam());
  for (std::int64_t i = 0; i < 10'000; ++i) {
    SCOPED_TRACE(i);
    races.Run(i);
    if (HasFatalFailure()) return;
  }
}

// --- C17: a refresh at the deadline keeps all or nothing ---

class RefreshAtTheDeadline {
 public:
  static constexpr TimestampMs kWritten = 1'700'000'000'000;
  static constexpr std::int64_t kKeys = 100;

  explicit RefreshAtTheDeadline(const BackendSetup& setup)
      : states_(setup, Ttl(10'000, UpdateType::kOnReadAndWrite)) {}

  // Each round has times of its own, and ends with nothing stored.
  void Run(std::int64_t round) {
    const TimestampMs start = kWritten + 1'000'000 * round;
    states_.shard().clock().SetMs(start);
    for (std::int64_t key = 0; key < kKeys; ++key) Write(key);
    if (Coin()) states_.shard().Commit();

    states_.shard().clock().SetMs(start + 9'999);
    std::vector<bool> refreshed;
    for (std::int64_t key = 0; key < kKeys; ++key) {
      refreshed.push_back(Coin());
      if (!refreshed.back()) continue;
      ASSERT_TRUE(IsWhole(key));
    }
    if (Coin()) states_.shard().Commit();
    // By the time of the last commit, whatever the clock says.
    states_.shard().clock().SetMs(start + 10'000);
    if (Coin()) Must(states_.shard()->Compact());
    RemoveExpiredOf(states_.shard());
    if (Coin()) states_.Restart();
    for (std::int64_t key = 0; key < kKeys; ++key) {
      ASSERT_EQ(IsWhole(key), refreshed[static_cast<std::size_t>(key)]);
    }
  }

 private:
  bool Coin() { return random_() % 2 == 0; }

  void Write(std::int64_t key) {
    states_.shard()->SetCurrentKey(key);
    Must(states_.value().Update(key));
    Must(states_.list().Update(std::vector<std::int64_t>(100, key)));
    Must(states_.map().Clear());
    for (int i = 0; i < 100; ++i) Must(states_.map().Put(i, key));
  }

  // Whether a read returns all of the key; it must be that or nothing.
  bool IsWhole(std::int64_t key) {
    states_.shard()->SetCurrentKey(key);
    const bool whole = Read(states_.value()).has_value();
    EXPECT_THAT(Read(states_.list()), SizeIs(whole ? 100 : 0));
    EXPECT_THAT(Read(states_.map()), SizeIs(whole ? 100 : 0));
    return whole;
  }

  static void RemoveExpiredOf(Shard<std::int64_t>& shard) {
    shard.Commit();
    Must(shard->CleanUp().status());
    Must(shard->Compact());
    shard.Commit();
  }

  ThreeStates states_;
  std::mt19937 random_{17};
};

TEST_P(RaceCasesTest, CaseC17ARefreshAtTheDeadlineKeepsAllOrNothing) {
  RefreshAtTheDeadline states(GetParam());
  for (int round = 0; round < 20; ++round) {  // 2000 keys in all.
    SCOPED_TRACE(round);
    states.Run(round);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace mayfly::cases
