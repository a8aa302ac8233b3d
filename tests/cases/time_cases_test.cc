// Cases C01, C02, C05, C07, C08, C11 and C13: arithmetic at its limits, and
// clocks that are wrong.
#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "tests/cases/five_states.h"

namespace mayfly::cases {
namespace {

using state_test::AllSetups;
using state_test::BackendSetup;
using state_test::SetupName;
using state_test::Ttl;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr const char* kAll = FiveStates::kAll;
constexpr const char* kNone = FiveStates::kNone;
constexpr auto Each = FiveStates::Each;

class TimeCasesTest : public ::testing::TestWithParam<BackendSetup> {};

INSTANTIATE_TEST_SUITE_P(Setups, TimeCasesTest, AllSetups(), SetupName);

TEST_P(TimeCasesTest, CaseC01FifteenYearsOutliveEveryCompactionButTheLast) {
  FiveStates states(GetParam(), Ttl(473'040'000'000), 1'700'000'000'000);
  states.Register();
  states.Write("k");
  for (const TimestampMs now_ms : {1'700'000'060'000, 2'173'039'999'999}) {
    states.At(now_ms);
    states.RemoveExpired();
    EXPECT_EQ(states.Live("k"), kAll);
    EXPECT_EQ(states.Raw(), Each(1));
  }
  states.At(2'173'040'000'000);
  states.RemoveExpired();
  EXPECT_EQ(states.Raw(), Each(0));
  EXPECT_EQ(states.Live("k"), kNone);
}

TEST_P(TimeCasesTest, CaseC02TheLargestTtlExpiresAtTheEndOfTime) {
  FiveStates states(GetParam(), Ttl(kMax), 10);
  states.Register();
  states.Write("k");
  states.At(50);
  EXPECT_EQ(states.Live("k"), kAll);
  states.At(1'700'000'000'000);
  states.Write("k2");
  states.Restart();
  states.RemoveExpired();
  states.At(kMax - 1);
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(states.Live("k"), kAll);
    EXPECT_EQ(states.Live("k2"), kAll);
    states.RemoveExpired();
    EXPECT_EQ(states.shard()->CleanUp().value().entries_removed, 0u);
    EXPECT_EQ(states.Raw(), Each(2));
  }
  states.At(kMax);
  EXPECT_EQ(states.Live("k"), kNone);
  states.RemoveExpired();
  EXPECT_EQ(states.Raw(), Each(0));
  EXPECT_EQ(states.Live("k2"), kNone);
}

// Each path asks a copy of its own, as some remove what they meet.
class TimeCasesC05Test : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // Whether the path calls the entries alive at the time.
  template <typename Path>
  static void ExpectAliveBefore1100(const char* name, Path path) {
    for (const TimestampMs now_ms : {1099, 1100, 1101}) {
      for (const bool committed : {false, true}) {
        SCOPED_TRACE(::testing::Message() << name << " at " << now_ms
                                          << ", committed " << committed);
        FiveStates states(GetParam(), Ttl(100), 1000);
        states.Register();
        states.Write("k");
        if (committed) states.shard().Commit();
        states.At(now_ms);
        path(states, /*alive=*/now_ms < 1100);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, TimeCasesC05Test, state_test::BothBackends(),
                         SetupName);

TEST_P(TimeCasesC05Test, CaseC05EveryReadAgreesOnTheInstant) {
  ExpectAliveBefore1100("reads", [](FiveStates& states, bool alive) {
    EXPECT_EQ(states.Live("k"), alive ? kAll : kNone);
  });
  ExpectAliveBefore1100("contains", [](FiveStates& states, bool alive) {
    EXPECT_EQ(states.map().Contains("m").value(), alive);
  });
  ExpectAliveBefore1100("walks", [](FiveStates& states, bool alive) {
    EXPECT_EQ(state_test::Read(states.map()).size(), alive ? 1u : 0u);
  });
  ExpectAliveBefore1100("emptiness", [](FiveStates& states, bool alive) {
    EXPECT_EQ(states.map().IsEmpty().value(), !alive);
  });
}

TEST_P(TimeCasesC05Test, CaseC05EveryCleanUpAgreesOnTheInstant) {
  ExpectAliveBefore1100("removal", [](FiveStates& states, bool alive) {
    states.RemoveExpired();
    EXPECT_EQ(states.Raw(), Each(alive ? 1 : 0));
  });
  ExpectAliveBefore1100("a restart", [](FiveStates& states, bool alive) {
    states.Restart();
    EXPECT_EQ(states.Live("k"), alive ? kAll : kNone);
  });
  ExpectAliveBefore1100("incremental", [](FiveStates& states, bool alive) {
    states.shard().Commit();
    EXPECT_EQ(states.shard()->CleanUp().value().entries_removed == 0, alive);
    states.shard().Commit();
    EXPECT_EQ(states.Stored(), Each(alive ? 1 : 0));
  });
}

TEST_P(TimeCasesTest, CaseC07AnEarlierClockNeitherHidesNorRemoves) {
  FiveStates states(GetParam(), Ttl(10'000), 1'700'000'100'000);
  states.Register();
  states.Write("k");
  states.At(1'700'000'000'000);
  for (const bool restarted : {false, true}) {
    SCOPED_TRACE(restarted);
    if (restarted) states.Restart();
    EXPECT_EQ(states.Live("k"), kAll);
    states.RemoveExpired();
    EXPECT_EQ(states.shard()->CleanUp().value().entries_removed, 0u);
    EXPECT_EQ(states.Live("k"), kAll);
  }
  EXPECT_EQ(states.Raw(), Each(1));
  states.At(1'700'000'109'999);
  states.RemoveExpired();
  EXPECT_EQ(states.Live("k"), kAll);
  EXPECT_EQ(states.Raw(), Each(1));
  states.At(1'700'000'110'000);
  EXPECT_EQ(states.Live("k"), kNone);
}

TEST_P(TimeCasesTest, CaseC08TwentyYearsPassTheYear2038) {
  FiveStates states(GetParam(), Ttl(630'720'000'000), 1'700'000'000'000);
  states.Register();
  states.Write("k");
  for (const TimestampMs now_ms :
       {2'147'483'647'999, 2'147'483'648'000, 2'330'719'999'999}) {
    states.At(now_ms);
    EXPECT_EQ(states.Live("k"), kAll) << now_ms;
    states.Restart();
    states.RemoveExpired();
    EXPECT_EQ(states.Live("k"), kAll) << now_ms;
  }
  states.At(2'330'720'000'000);
  states.Restart();
  EXPECT_EQ(states.Live("k"), kNone);
}

class TimeCasesC11Test : public ::testing::TestWithParam<BackendSetup> {
 protected:
  static constexpr TimestampMs kStart = 1'700'000'000'000;
  static constexpr TimestampMs kWrong = 4'102'444'800'000;

  // Ten keys, and z at the moment at which the clock is wrong; during which all
  // is done that might destroy something. `shown` is what reads show then.
  static void WriteThroughAJump(FiveStates& states, const char* shown) {
    states.Register();
    for (int i = 0; i < 10; ++i) states.Write("k" + std::to_string(i));
    states.shard().Commit();
    states.shard().clock().JumpToMs(kWrong);
    states.Write("z");
    EXPECT_TRUE(states.shard()->clock_jumped());
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(states.Live("k" + std::to_string(i)), shown);
      EXPECT_EQ(states.Live("k" + std::to_string(i)), shown);
    }
    EXPECT_EQ(states.shard()->CleanUp().value().entries_removed, 0u);
    states.RemoveExpired();
    states.shard().clock().JumpToMs(kStart);
    states.At(kStart + 1000);
  }

  static void ExpectAllElevenLive(FiveStates& states) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(states.Live("k" + std::to_string(i)), kAll) << i;
    }
    EXPECT_EQ(states.Live("z"), kAll);
    EXPECT_FALSE(states.shard()->clock_jumped());
  }
};

INSTANTIATE_TEST_SUITE_P(Setups, TimeCasesC11Test, AllSetups(), SetupName);

TEST_P(TimeCasesC11Test, CaseC11ARecordOfTheFutureEndsNobodyElse) {
  FiveStates states(GetParam(), Ttl(60'000), kStart);
  WriteThroughAJump(states, kNone);
  ExpectAllElevenLive(states);
  states.RemoveExpired();
  EXPECT_EQ(states.shard()->CleanUp().value().entries_removed, 0u);
  EXPECT_EQ(states.Raw(), Each(11));

  states.At(kStart + 60'000);
  for (int i = 0; i < 10; i += 2) {
    EXPECT_EQ(states.Live("k" + std::to_string(i)), kNone) << i;
  }
  states.RemoveExpired();
  EXPECT_EQ(states.Raw(), Each(1));
  EXPECT_EQ(states.Live("z"), kAll);
}

// Reads that renew have something to write in the jump, too.
TEST_P(TimeCasesC11Test, CaseC11ReadsThatRenewDestroyNothingInAJump) {
  FiveStates states(GetParam(), Ttl(60'000, UpdateType::kOnReadAndWrite),
                    kStart);
  WriteThroughAJump(states, kNone);
  ExpectAllElevenLive(states);
  states.At(kStart + 60'999);
  ExpectAllElevenLive(states);
}

// Who may see what has expired sees it, and more than once.
TEST_P(TimeCasesC11Test, CaseC11ReadsThatShowExpiredDestroyNothingInAJump) {
  for (const UpdateType update :
       {UpdateType::kOnCreateAndWrite, UpdateType::kOnReadAndWrite}) {
    FiveStates states(
        GetParam(),
        Ttl(60'000, update, StateVisibility::kReturnExpiredIfNotCleanedUp),
        kStart);
    WriteThroughAJump(states, kAll);
    ExpectAllElevenLive(states);
    states.RemoveExpired();
    EXPECT_EQ(states.Raw(), Each(11));
  }
}

TEST_P(TimeCasesTest, CaseC13TheLargerTimeIsKeptOverARestart) {
  FiveStates states(GetParam(), Ttl(60'000, UpdateType::kOnReadAndWrite),
                    1'700'000'500'000);
  states.Register();
  for (int i = 0; i < 100; ++i) states.Write(std::to_string(i));
  states.shard().Commit();
  states.At(1'699'999'000'000);
  states.Restart();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(states.Live(std::to_string(i)), kAll) << i;
  }
  states.RemoveExpired();
  EXPECT_EQ(states.Raw(), Each(100));

  states.At(1'700'000'559'999);
  for (int i = 0; i < 100; i += 2) {  // Renews these.
    EXPECT_EQ(states.Live(std::to_string(i)), kAll) << i;
  }
  states.At(1'700'000'560'000);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(states.Live(std::to_string(i)), i % 2 == 0 ? kAll : kNone) << i;
  }
}

}  // namespace
}  // namespace mayfly::cases
