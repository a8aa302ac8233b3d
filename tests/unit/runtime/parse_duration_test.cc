#include "mayfly/runtime/parse_duration.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/ttl_config.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double MillisecondsOf(std::string_view text) {
  const absl::StatusOr<FlagDuration> duration = ParseDuration(text);
  EXPECT_THAT(duration, IsOk()) << text;
  return duration.ok() ? duration->count() : -12345;
}

TEST(ParseDurationTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(MillisecondsOf("3h"), 10'800'000);
  EXPECT_EQ(MillisecondsOf("1h30m"), 5'400'000);
  EXPECT_EQ(MillisecondsOf("1.5s"), 1500);
  EXPECT_EQ(MillisecondsOf("500ms"), 500);
  EXPECT_EQ(MillisecondsOf("0"), 0);
  EXPECT_EQ(MillisecondsOf("1us"), 0.001);
  EXPECT_EQ(MillisecondsOf("1.0005s"), 1000.5);
  EXPECT_EQ(MillisecondsOf("-1ms"), -1);
  EXPECT_EQ(MillisecondsOf("infinite"), kInfinity);
  EXPECT_EQ(MillisecondsOf("inf"), kInfinity);
  EXPECT_EQ(MillisecondsOf("-inf"), -kInfinity);
}

TEST(ParseDurationTest, LongDurationsKeepTheirMilliseconds) {
  // Beyond what quarters of nanoseconds fit in a double's 53 bits.
  EXPECT_EQ(MillisecondsOf("876000h1ms"), 3'153'600'000'001);
}

TEST(ParseDurationTest, NamesWhatIsNoDuration) {
  for (const char* text : {"", "3", "-1", "3 hours", "h", "3d", "ten"}) {
    EXPECT_THAT(ParseDuration(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("'" + std::string(text) + "'"),
                               HasSubstr("3h"))))
        << text;
  }
}

TEST(ParseDurationTest, LetsTheTtlJudgeItsRange) {
  for (const char* text : {"0", "-1ms", "1us"}) {
    EXPECT_THAT(StateTtlConfig::NewBuilder(*ParseDuration(text)).Build(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ttl")))
        << text;
  }
  const auto ttl = StateTtlConfig::NewBuilder(*ParseDuration("3h")).Build();
  ASSERT_THAT(ttl, IsOk());
  EXPECT_EQ(ttl->ttl_ms(), 10'800'000);
  const auto infinite =
      StateTtlConfig::NewBuilder(*ParseDuration("infinite")).Build();
  ASSERT_THAT(infinite, IsOk());
  EXPECT_EQ(infinite->ttl_ms(), kInfiniteTtlMs);
}

}  // namespace
}  // namespace mayfly
