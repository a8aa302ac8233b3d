// A test of somebody else, with the clock and the matchers we give them.
#include <chrono>

#include "gtest/gtest.h"
#include "mayfly/state/ttl_config.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"

TEST(Testing, IsThereForUsers) {
  mayfly::ManualClock clock(1);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(clock.NowMs(), 1001);
  EXPECT_THAT(mayfly::StateTtlConfig::NewBuilder(std::chrono::hours(1)).Build(),
              mayfly::IsOk());
}
