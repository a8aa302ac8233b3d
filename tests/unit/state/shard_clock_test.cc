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
  EXPECT_EQ(clock.largest_ms(), 100);
  EXPECT_EQ(clock.NowMs(), 250);
  EXPECT_EQ(clock.largest_ms(), 250);
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
