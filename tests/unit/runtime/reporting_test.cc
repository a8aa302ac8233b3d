// What a job says of itself: malformed lines, progress, totals.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/runtime/source.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"
#include "runtime/clock_watch.h"
#include "runtime/interval_timer.h"
#include "runtime/job_sweeps.h"
#include "runtime/job_totals.h"
#include "runtime/malformed_lines.h"
#include "runtime/progress_reporter.h"

namespace mayfly::runtime_internal {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(IntervalTimerTest, IsDueOnceTheIntervalHasPassed) {
  IntervalTimer timer(milliseconds(10), 1000);
  EXPECT_FALSE(timer.Due(1000));
  EXPECT_FALSE(timer.Due(1009));
  EXPECT_TRUE(timer.Due(1010));
  EXPECT_TRUE(timer.Due(1011));
  timer.Restart(1011);
  EXPECT_FALSE(timer.Due(1020));
  EXPECT_TRUE(timer.Due(1021));
}

TEST(IntervalTimerTest, IsNotStuckWhenTheClockIsSetBack) {
  IntervalTimer timer(milliseconds(10), 1'000'000);
  EXPECT_FALSE(timer.Due(500));
  EXPECT_FALSE(timer.Due(509));
  EXPECT_TRUE(timer.Due(510));
}

MalformedLine Line(std::uint64_t number) {
  return {.file = "in.ndjson", .line = number, .reason = "no key"};
}

TEST(RestoreProgressTest, SaysHowFarItIsAndHowLongItWillTake) {
  RestoreProgress progress{.source = "/ckpt/checkpoint-00007",
                           .step = RestoreStep::kChecking,
                           .done = 12'000'000,
                           .total = 400'000'000,
                           .per_second = 90e6,
                           .left = std::chrono::milliseconds(4311)};
  EXPECT_EQ(progress.ToString(),
            "checking /ckpt/checkpoint-00007: 12 of 400 MB, 90 a second, 4 s "
            "left");
  progress.step = RestoreStep::kLoading;
  progress.done = 5;
  progress.total = 20;
  progress.per_second = 3;
  EXPECT_EQ(progress.ToString(),
            "loading /ckpt/checkpoint-00007: 5 of about 20 keys, 3 a second, "
            "4 s left");
}

class MalformedLinesTest : public ::testing::Test {
 protected:
  MalformedLinesTest() {
    plan_.log = [this](std::string_view message) {
      log_.emplace_back(message);
    };
  }

  ManualClock clock_{1'000'000};
  JobPlan plan_;
  std::vector<std::string> log_;
};

TEST_F(MalformedLinesTest, AreLoggedWithFileLineAndReason) {
  MalformedLines lines(plan_, clock_);
  EXPECT_THAT(lines.Add(Line(17)), IsOk());
  EXPECT_THAT(log_, ElementsAre("malformed line in.ndjson:17: no key"));
  EXPECT_EQ(lines.count(), 1u);
}

TEST_F(MalformedLinesTest, GoToTheCallbackInstead) {
  std::vector<std::uint64_t> numbers;
  plan_.on_malformed_line = [&](const MalformedLine& line) {
    numbers.push_back(line.line);
  };
  MalformedLines lines(plan_, clock_);
  for (std::uint64_t i = 1; i <= 20; ++i)
    EXPECT_THAT(lines.Add(Line(i)), IsOk());
  EXPECT_THAT(numbers, SizeIs(20));
  EXPECT_THAT(log_, SizeIs(0));
}

TEST_F(MalformedLinesTest, AreLoggedAFewASecond) {
  MalformedLines lines(plan_, clock_);
  for (std::uint64_t i = 1; i <= 15; ++i)
    EXPECT_THAT(lines.Add(Line(i)), IsOk());
  EXPECT_THAT(log_, SizeIs(10));
  clock_.Advance(milliseconds(1000));
  EXPECT_THAT(lines.Add(Line(16)), IsOk());
  ASSERT_THAT(log_, SizeIs(12));
  EXPECT_EQ(log_[10], "and 5 malformed lines more");
  EXPECT_THAT(log_[11], HasSubstr(":16:"));
  lines.Finish();
  EXPECT_THAT(log_, SizeIs(12));
  for (std::uint64_t i = 17; i <= 30; ++i)
    EXPECT_THAT(lines.Add(Line(i)), IsOk());
  lines.Finish();
  EXPECT_EQ(log_.back(), "and 5 malformed lines more");
}

TEST_F(MalformedLinesTest, EndTheJobBeyondTheLimit) {
  plan_.options.malformed_lines_max = 2;
  MalformedLines lines(plan_, clock_);
  lines.StartAt(1);
  EXPECT_THAT(lines.Add(Line(17)), IsOk());
  EXPECT_THAT(
      lines.Add(Line(18)),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("in.ndjson:18: no key"), HasSubstr("so far: 3"),
                     HasSubstr("malformed_lines_max is 2"))));
}

class NoSource final : public Source {
 public:
  const std::string& name() const override { return name_; }
  absl::Status Open() override { return absl::OkStatus(); }
  absl::Status SeekTo(const SourcePosition&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<SourceRead> Next(SourceLine&) override {
    return SourceRead::kEnd;
  }
  std::optional<std::uint64_t> total_bytes() const override { return 400; }

 private:
  const std::string name_ = "none";
};

ShardReport Report(std::uint64_t records, TimestampMs watermark_ms,
                   std::vector<StateStatistics> states = {}) {
  ShardReport report;
  report.records = records;
  report.watermark_ms = watermark_ms;
  report.states = std::move(states);
  return report;
}

TEST(JobTotalsTest, AddUpWhatIsOnDiskAndWhatWasRemoved) {
  const StateStatistics one = {.state = "a",
                               .expired_bytes = 1,
                               .disk = {.files = 1,
                                        .bytes = 2,
                                        .entries = 3,
                                        .expired_bytes = 4,
                                        .expired_entries = 5,
                                        .expired_bytes_by = {6},
                                        .oldest_ms = 70,
                                        .bytes_of_unknown_age = 8},
                               .cleanup = {.reads = {1, 2},
                                           .incremental = {3, 4},
                                           .compactions = {5, 6},
                                           .merge_elements = 7,
                                           .sweeps = {.files_dropped = 8},
                                           .records_unreadable = 9}};
  const StateStatistics other = {.state = "a",
                                 .expired_bytes = 10,
                                 .disk = {.files = 10,
                                          .bytes = 20,
                                          .entries = 30,
                                          .expired_bytes = 40,
                                          .expired_entries = 50,
                                          .expired_bytes_by = {60, 61},
                                          .oldest_ms = 7,
                                          .bytes_of_unknown_age = 80},
                                 .cleanup = {.reads = {10, 20},
                                             .incremental = {30, 40},
                                             .compactions = {50, 60},
                                             .merge_elements = 70,
                                             .sweeps = {.files_dropped = 80},
                                             .records_unreadable = 90}};
  const StateStatistics sum = {.state = "a",
                               .expired_bytes = 11,
                               .disk = {.files = 11,
                                        .bytes = 22,
                                        .entries = 33,
                                        .expired_bytes = 44,
                                        .expired_entries = 55,
                                        .expired_bytes_by = {66, 61},
                                        .oldest_ms = 7,
                                        .bytes_of_unknown_age = 88},
                               .cleanup = {.reads = {11, 22},
                                           .incremental = {33, 44},
                                           .compactions = {55, 66},
                                           .merge_elements = 77,
                                           .sweeps = {.files_dropped = 88},
                                           .records_unreadable = 99}};
  EXPECT_THAT(TotalsOf({Report(0, 0, {one}), Report(0, 0, {other})}).states,
              ElementsAre(sum));
}

TEST(JobTotalsTest, AreSumsOverTheShards) {
  const JobTotals totals = TotalsOf(
      {Report(3, 0,
              {{.state = "b",
                .live_entries = 1,
                .expired_entries = 2,
                .bytes = 30,
                .exact = true},
               {.state = "a", .live_entries = 4, .bytes = 50, .exact = true}}),
       Report(4, 900,
              {{.state = "b",
                .live_entries = 10,
                .expired_entries = 20,
                .bytes = 300,
                .exact = false},
               {.state = "a",
                .live_entries = 1,
                .expired_entries = 1,
                .bytes = 1,
                .exact = true}}),
       Report(0, 800)});
  EXPECT_EQ(totals.records, 7u);
  EXPECT_EQ(totals.watermark_ms, 800);
  ASSERT_THAT(totals.states, SizeIs(2));
  EXPECT_EQ(totals.states[0].state, "a");
  EXPECT_EQ(totals.states[0].live_entries, 5u);
  EXPECT_TRUE(totals.states[0].exact);
  EXPECT_EQ(totals.states[1].state, "b");
  EXPECT_EQ(totals.states[1].expired_entries, 22u);
  EXPECT_EQ(totals.states[1].bytes, 330u);
  EXPECT_FALSE(totals.states[1].exact);
}

class ProgressReporterTest : public ::testing::Test {
 protected:
  ProgressReporterTest() {
    plan_.source = std::make_unique<NoSource>();
    plan_.progress_interval = milliseconds(100);
    plan_.on_progress = [this](const JobProgress& progress) {
      reports_.push_back(progress);
    };
  }

  ManualClock clock_{1'000'000};
  JobPlan plan_;
  std::vector<JobProgress> reports_;
};

TEST_F(ProgressReporterTest, TellsRateAndPosition) {
  ProgressReporter reporter(plan_, clock_);
  reporter.StartAt(1000);
  EXPECT_FALSE(reporter.Due());
  clock_.Advance(milliseconds(200));
  EXPECT_TRUE(reporter.Due());
  reporter.Report({.input_bytes = 100, .malformed_lines = 2},
                  {Report(1050, 5)});
  EXPECT_FALSE(reporter.Due());
  ASSERT_THAT(reports_, SizeIs(1));
  EXPECT_EQ(reports_[0].elapsed, milliseconds(200));
  EXPECT_EQ(reports_[0].records, 1050u);
  EXPECT_EQ(reports_[0].records_per_second, 250);
  EXPECT_EQ(reports_[0].input_bytes, 100u);
  EXPECT_EQ(reports_[0].input_bytes_total, 400u);
  EXPECT_EQ(reports_[0].malformed_lines, 2u);
  EXPECT_EQ(reports_[0].watermark_ms, 5);
}

TEST_F(ProgressReporterTest, ToleratesAClockThatIsSetBack) {
  ProgressReporter reporter(plan_, clock_);
  clock_.SetMs(500);
  reporter.Report({}, {Report(10, 0)});
  EXPECT_EQ(reports_[0].records_per_second, 0);
  EXPECT_EQ(reports_[0].elapsed, milliseconds(0));
  clock_.SetMs(1500);
  reporter.Report({}, {Report(30, 0)});
  EXPECT_EQ(reports_[1].records_per_second, 20);
}

TEST_F(ProgressReporterTest, IsNeverDueWithoutACallback) {
  plan_.on_progress = nullptr;
  ProgressReporter reporter(plan_, clock_);
  clock_.Advance(milliseconds(1000));
  EXPECT_FALSE(reporter.Due());
}

TEST(ClockWatchTest, CaseC11TellsOfAJumpOnceAndOfItsEnd) {
  ManualClock clock(1'000'000);
  JobPlan plan;
  plan.options.name = "visits";
  std::vector<std::string> log;
  plan.log = [&](std::string_view message) { log.emplace_back(message); };
  ClockWatch watch(plan, clock);
  EXPECT_FALSE(watch.Due());
  clock.Advance(milliseconds(1000));
  EXPECT_TRUE(watch.Due());
  watch.Look({{.clock_jumped = false}, {.clock_jumped = false}});
  EXPECT_FALSE(watch.Due());
  EXPECT_THAT(log, SizeIs(0));
  watch.Look({{.clock_jumped = false}, {.clock_jumped = true}});
  watch.Look({{.clock_jumped = true}, {.clock_jumped = true}});
  EXPECT_THAT(log, ElementsAre(AllOf(HasSubstr("'visits'"),
                                     HasSubstr("has jumped ahead"),
                                     HasSubstr("restart the job"))));
  watch.Look({{.clock_jumped = false}, {.clock_jumped = false}});
  EXPECT_THAT(log, SizeIs(2));
  EXPECT_THAT(log.back(), HasSubstr("as it was before"));
}

// Ends as it is told to.
class TellingSweeper final : public DiskSweeper {
 public:
  absl::StatusOr<SweepReport> Sweep(const SweepOptions&, TimestampMs) override {
    const std::size_t sweep = sweeps++;
    if (sweep < results.size() && !results[sweep].ok()) return results[sweep];
    return SweepReport{.files_dropped = 1};
  }
  std::vector<absl::Status> results;
  std::size_t sweeps = 0;
};

TEST(JobSweepsTest, TellsOfAnErrorOnceUntilItIsAnotherOne) {
  const absl::Status full = absl::ResourceExhaustedError("disk is full");
  const absl::Status damaged = absl::DataLossError("000007.sst is damaged");
  const auto sweeper = std::make_shared<TellingSweeper>();
  sweeper->results = {full, full, damaged, absl::OkStatus(), full};
  const auto clock = std::make_shared<ManualClock>(1'000'000);
  std::vector<std::string> log;
  JobPlan plan;
  plan.options.name = "visits";
  plan.options.disk_sweeps = {.interval = milliseconds(1000)};
  plan.log = [&](std::string_view line) { log.emplace_back(line); };
  JobSweeps sweeps(plan, clock);
  sweeps.Add("shard 3", sweeper);
  ASSERT_THAT(sweeps.Start(), IsOk());
  while (sweeps.history().size() < 6) {
    clock->Advance(milliseconds(1000));
    std::this_thread::yield();
  }
  sweeps.Stop();
  EXPECT_THAT(log, SizeIs(0));
  sweeps.PassOnErrors();
  EXPECT_THAT(log,
              ElementsAre(AllOf(HasSubstr("job 'visits'"), HasSubstr("shard 3"),
                                HasSubstr("disk is full")),
                          HasSubstr("000007.sst is damaged"),
                          HasSubstr("disk is full")));
  sweeps.PassOnErrors();
  EXPECT_THAT(log, SizeIs(3));
  EXPECT_GE(sweeps.totals().files_dropped, 2u);
  EXPECT_EQ(sweeps.history()[2].status, damaged);
}

TEST(JobSweepsTest, DoNothingWhereTheyAreSwitchedOff) {
  JobPlan plan;
  plan.options.disk_sweeps.reset();
  JobSweeps sweeps(plan, std::make_shared<ManualClock>(0));
  sweeps.Add("shard 0", std::make_shared<TellingSweeper>());
  EXPECT_THAT(sweeps.Start(), IsOk());
  sweeps.Stop();
  EXPECT_THAT(sweeps.history(), SizeIs(0));
  EXPECT_EQ(sweeps.totals(), SweepReport());
}

}  // namespace
}  // namespace mayfly::runtime_internal
