// Elements that come out of order, late, or from an impossible future.
#include "mayfly/runtime/event_time.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"

namespace mayfly {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EventTimeTest : public JobFixture {
 protected:
  absl::StatusOr<JobSummary> RunWith(const EventTimeOptions& event_time) {
    return RunJob({.change = [&](VisitJob& job) {
      job.WithTimestamps([](const Visit& visit) { return visit.time_ms; },
                         event_time);
    }});
  }

  std::vector<std::string> Output() const { return LinesOf(output()); }
};

// The TTL of the job's states is 100 ms, and now is the largest time seen.
TEST_F(EventTimeTest, NowIsTheLargestTimeSeen) {
  WriteInput({"a@1000", "b@1100", "a@1099", "a@1150"});
  const auto summary = RunWith({});
  ASSERT_THAT(summary, IsOk());
  EXPECT_THAT(Output(), ElementsAre("a 1000 1 1", "b 1100 1 1", "a 1099 1 1",
                                    "a 1150 2 2"));
  EXPECT_EQ(summary->shards[0].watermark_ms, 1150);
  EXPECT_EQ(summary->late_elements, 0u);
}

TEST_F(EventTimeTest, NowStaysBehindByTheOutOfOrderness) {
  WriteInput({"a@1000", "b@1099", "a@1098", "b@1148", "a@1150", "c@1200"});
  const auto summary = RunWith({.max_out_of_orderness = milliseconds(50)});
  ASSERT_THAT(summary, IsOk());
  // What came at 950 by the watermark is live at 1049 and expired at 1050.
  EXPECT_THAT(Output(), ElementsAre("a 1000 1 1", "b 1099 1 1", "a 1098 2 2",
                                    "b 1148 2 2", "a 1150 3 2", "c 1200 1 1"));
  EXPECT_EQ(summary->shards[0].watermark_ms, 1150);
}

TEST_F(EventTimeTest, TheLatestAreCountedAndNotProcessed) {
  WriteInput({"a@1000", "a@999", "a@991", "a@990", "a@500", "a@1000"});
  const auto summary = RunWith({.allowed_lateness = milliseconds(10)});
  ASSERT_THAT(summary, IsOk());
  EXPECT_THAT(Output(), ElementsAre("a 1000 1 1", "a 999 2 2", "a 991 3 3",
                                    "a 1000 4 4"));
  EXPECT_EQ(summary->late_elements, 2u);
  EXPECT_EQ(summary->records, 6u);
}

TEST_F(EventTimeTest, WithoutLatenessAllowedEveryElementBehindIsLate) {
  WriteInput({"a@1000", "a@999", "a@1000"});
  const auto summary = RunWith({.allowed_lateness = milliseconds(0)});
  ASSERT_THAT(summary, IsOk());
  EXPECT_THAT(Output(), ElementsAre("a 1000 1 1", "a 1000 2 2"));
  EXPECT_EQ(summary->late_elements, 1u);
}

TEST_F(EventTimeTest, LateElementsAreCountedOverRestarts) {
  WriteInput({"a@1000", "a@500"});
  const EventTimeOptions event_time{.allowed_lateness = milliseconds(10)};
  ASSERT_THAT(RunWith(event_time), IsOk());
  AppendToFile(input(), "a@600\na@1001\n");
  const auto summary = RunWith(event_time);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->late_elements, 2u);
  EXPECT_THAT(Output(), ElementsAre("a 1000 1 1", "a 1001 2 2"));
}

// Case C11, in event time.
TEST_F(EventTimeTest, CaseC11AnElementFromTheFarFutureIsMalformed) {
  options_.processing_clock = std::make_shared<ManualClock>(10'000);
  WriteInput({"a@1000", "a@10501", "a@10500", "a@10500"});
  const auto summary = RunWith({.max_ahead = milliseconds(500)});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 1u);
  EXPECT_EQ(summary->shards[0].watermark_ms, 10'500);
  EXPECT_THAT(log_, ElementsAre(AllOf(HasSubstr("in:2"), HasSubstr("10501 ms"),
                                      HasSubstr("500 ms ahead of the clock"))));
}

TEST_F(EventTimeTest, CaseC11ADayAheadIsTooFarByDefault) {
  options_.processing_clock = std::make_shared<ManualClock>(10'000);
  WriteInput({"a@86410000", "a@86410001"});
  const auto summary = RunWith({});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 1u);
  EXPECT_THAT(Output(), ElementsAre("a 86410000 1 1"));
}

TEST_F(EventTimeTest, TheFutureMayBeAllowed) {
  options_.processing_clock = std::make_shared<ManualClock>(0);
  WriteInput({"a@9223372036854775806"});
  const auto summary = RunWith({.max_ahead = std::nullopt});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 0u);
  EXPECT_EQ(summary->records, 1u);
}

TEST_F(EventTimeTest, AStateInEventTimeNeedsTimestamps) {
  WriteInput({"a@1000"});
  EXPECT_THAT(
      RunJob({.change = [](VisitJob& job) { job.WithTimestamps(nullptr); }}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("is in event time"),
                     HasSubstr("call WithTimestamps()"))));
}

TEST_F(EventTimeTest, NegativeDurationsAreRefused) {
  WriteInput({"a@1000"});
  EXPECT_THAT(
      RunWith({.max_out_of_orderness = milliseconds(-1)}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("max_out_of_orderness"), HasSubstr("-1 ms"))));
  EXPECT_THAT(RunWith({.allowed_lateness = milliseconds(-2)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("allowed_lateness must be >= 0 ms, got -2")));
  EXPECT_THAT(RunWith({.max_ahead = milliseconds(-3)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("max_ahead must be >= 0 ms, got -3")));
}

}  // namespace
}  // namespace mayfly
