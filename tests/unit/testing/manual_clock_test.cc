#include "mayfly/testing/manual_clock.h"

#include <chrono>

#include "gtest/gtest.h"

namespace mayfly {
namespace {

TEST(ManualClockTest, StandsStillUntilItIsMoved) {
  ManualClock clock(1000);
  const TtlClock& time = clock;
  EXPECT_EQ(time.NowMs(), 1000);
  EXPECT_EQ(time.NowMs(), 1000);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(time.NowMs(), 3000);
  clock.SetMs(500);
  EXPECT_EQ(time.NowMs(), 500);
}

TEST(ManualClockTest, StartsAtTheEpoch) { EXPECT_EQ(ManualClock().NowMs(), 0); }

}  // namespace
}  // namespace mayfly
