#include "mayfly/state/internal/shard_clock.h"

#include <memory>

#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"

namespace mayfly::state_internal {
namespace {

TEST(ShardClockTest, FollowsItsSourceForward) {
  const auto source = std::make_shared<ManualClock>(100);
  ShardClock clock(source, ClockReading::kExact);
  EXPECT_EQ(clock.NowMs(), 100);
  source->SetMs(250);
  EXPECT_EQ(clock.trusted_ms(), 100);
  EXPECT_EQ(clock.NowMs(), 250);
  EXPECT_EQ(clock.trusted_ms(), 250);
}

TEST(ShardClockTest, Row107NeverGoesBackwards) {
  const auto source = std::make_shared<ManualClock>(100);
  ShardClock clock(source, ClockReading::kExact);
  EXPECT_EQ(clock.NowMs(), 100);
  source->SetMs(40);
  EXPECT_EQ(clock.NowMs(), 100);
  source->SetMs(101);
  EXPECT_EQ(clock.NowMs(), 101);
}

TEST(ShardClockTest, CaseC13BeginsNoEarlierThanTheLastRunEnded) {
  ShardClock clock(std::make_shared<ManualClock>(1'699'999'000'000),
                   ClockReading::kExact);
  clock.AdvanceTo(1'700'000'500'000);
  EXPECT_EQ(clock.NowMs(), 1'700'000'500'000);
}

// A source that cannot tell answers with a negative time.
TEST(ShardClockTest, Row106IsNeverNegative) {
  ShardClock clock(std::make_shared<ManualClock>(-5), ClockReading::kExact);
  EXPECT_EQ(clock.NowMs(), 0);
}

TEST(ShardClockTest, WithoutASourceMovesByAdvanceToAlone) {
  ShardClock clock(nullptr, ClockReading::kExact);
  EXPECT_EQ(clock.NowMs(), 0);
  clock.AdvanceTo(7);
  clock.AdvanceTo(3);
  EXPECT_EQ(clock.NowMs(), 7);
}

TEST(ShardClockTest, CaseC11AJumpIsNowButNotTrusted) {
  const auto source = std::make_shared<ManualClock>(1'700'000'000'000);
  ShardClock clock(source, ClockReading::kExact);
  EXPECT_EQ(clock.NowMs(), 1'700'000'000'000);
  source->JumpToMs(4'102'444'800'000);
  EXPECT_EQ(clock.NowMs(), 4'102'444'800'000);
  EXPECT_TRUE(clock.jumped());
  EXPECT_EQ(clock.trusted_ms(), 1'700'000'000'000);

  // Time goes on by the steady clock, however often one looks.
  source->Advance(std::chrono::milliseconds(500));
  clock.NowMs();
  source->Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(clock.NowMs(), 4'102'444'801'000);
  EXPECT_TRUE(clock.jumped());
  EXPECT_EQ(clock.trusted_ms(), 1'700'000'001'000);

  source->JumpToMs(1'700'000'001'007);
  EXPECT_EQ(clock.NowMs(), 1'700'000'001'007);
  EXPECT_FALSE(clock.jumped());
}

TEST(ShardClockTest, ASmallStepForwardIsNoJump) {
  const auto source = std::make_shared<ManualClock>(1000);
  ShardClock clock(source, ClockReading::kExact);
  clock.NowMs();
  source->JumpToMs(1000 + ShardClock::kJumpMs);
  EXPECT_EQ(clock.NowMs(), 1000 + ShardClock::kJumpMs);
  EXPECT_FALSE(clock.jumped());
  source->JumpToMs(source->NowMs() + 1);
  clock.NowMs();
  EXPECT_TRUE(clock.jumped());
}

TEST(ShardClockTest, ManySmallJumpsAreALargeOne) {
  const auto source = std::make_shared<ManualClock>(1000);
  ShardClock clock(source, ClockReading::kExact);
  clock.NowMs();
  for (int jump = 0; jump < 60; ++jump) {
    source->JumpToMs(source->NowMs() + 10'000);
    source->Advance(std::chrono::seconds(1));
    clock.NowMs();
    EXPECT_EQ(clock.jumped(), jump >= 6) << jump;
  }
  EXPECT_LE(clock.trusted_ms(), 1000 + ShardClock::kJumpMs + 60'000);
}

// Set back, and right again after the hour in which small differences are
// forgiven.
TEST(ShardClockTest, AClockThatIsSetRightAgainHasNotJumped) {
  const auto source = std::make_shared<ManualClock>(100'000'000);
  ShardClock clock(source, ClockReading::kExact);
  clock.NowMs();
  source->JumpToMs(source->NowMs() - 300'000);
  for (int minute = 0; minute < 150; ++minute) {
    source->Advance(std::chrono::minutes(1));
    clock.NowMs();
    ASSERT_FALSE(clock.jumped());
  }
  source->JumpToMs(source->NowMs() + 300'000);
  EXPECT_EQ(clock.NowMs(), source->NowMs());
  EXPECT_FALSE(clock.jumped());
}

// A machine that starts an hour behind what was committed, and is set right.
TEST(ShardClockTest, CaseC13AClockThatCatchesUpHasNotJumped) {
  const auto source = std::make_shared<ManualClock>(100'000'000);
  ShardClock clock(source, ClockReading::kExact);
  clock.AdvanceTo(103'600'000);
  EXPECT_EQ(clock.NowMs(), 103'600'000);
  source->Advance(std::chrono::minutes(1));
  clock.NowMs();
  source->JumpToMs(103'800'000);
  EXPECT_EQ(clock.NowMs(), 103'800'000);
  EXPECT_FALSE(clock.jumped());
  source->JumpToMs(4'102'444'800'000);
  clock.NowMs();
  EXPECT_TRUE(clock.jumped());
}

// By ten milliseconds a second, for days.
TEST(ShardClockTest, AClockThatRunsFastHasNotJumped) {
  const auto source = std::make_shared<ManualClock>(1000);
  ShardClock clock(source, ClockReading::kExact);
  for (int hour = 0; hour < 100; ++hour) {
    source->Advance(std::chrono::hours(1));
    source->JumpToMs(source->NowMs() + 36'000);
    EXPECT_EQ(clock.NowMs(), source->NowMs());
    EXPECT_FALSE(clock.jumped()) << hour;
  }
}

TEST(ShardClockTest, TimeThatHasPassedIsNoJump) {
  const auto source = std::make_shared<ManualClock>(1000);
  ShardClock clock(source, ClockReading::kExact);
  clock.NowMs();
  source->Advance(std::chrono::hours(24 * 365));
  clock.NowMs();
  EXPECT_FALSE(clock.jumped());
}

class ClockWithoutSteadyTime final : public TtlClock {
 public:
  TimestampMs NowMs() const override { return now_ms; }
  TimestampMs now_ms = 0;
};

TEST(ShardClockTest, WithoutASteadyClockTheSourceIsTakenAtItsWord) {
  const auto source = std::make_shared<ClockWithoutSteadyTime>();
  ShardClock clock(source, ClockReading::kExact);
  clock.NowMs();
  source->now_ms = 4'102'444'800'000;
  EXPECT_EQ(clock.NowMs(), 4'102'444'800'000);
  EXPECT_FALSE(clock.jumped());
  EXPECT_EQ(clock.trusted_ms(), 4'102'444'800'000);
}

// A restart cannot tell a jump from time that it was down.
TEST(ShardClockTest, TheFirstLookIsNoJump) {
  ShardClock clock(std::make_shared<ManualClock>(4'102'444'800'000),
                   ClockReading::kExact);
  clock.AdvanceTo(1'700'000'000'000);
  EXPECT_EQ(clock.NowMs(), 4'102'444'800'000);
  EXPECT_FALSE(clock.jumped());
}

// How long it goes without asking is a matter of real time; that it asks at
// first, and never shows less than it has seen, is not.
TEST(ShardClockTest, CoarseAsksAtFirstAndNeverGoesBackwards) {
  const auto source = std::make_shared<ManualClock>(100);
  ShardClock clock(source, ClockReading::kCoarse);
  EXPECT_EQ(clock.NowMs(), 100);
  clock.AdvanceTo(300);
  EXPECT_EQ(clock.NowMs(), 300);
  source->SetMs(200);
  EXPECT_EQ(clock.NowMs(), 300);
}

TEST(CommittedClockTest, ShowsWhatWasSetLast) {
  CommittedClock clock;
  EXPECT_EQ(clock.NowMs(), 0);
  clock.Set(1'700'000'000'000);
  EXPECT_EQ(clock.NowMs(), 1'700'000'000'000);
}

}  // namespace
}  // namespace mayfly::state_internal
