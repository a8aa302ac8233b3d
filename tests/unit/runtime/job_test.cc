#include "mayfly/runtime/job.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

class JobTest : public JobFixture {};

TEST_F(JobTest, AnEmptyInputIsCompleteAtOnce) {
  WriteFile(input(), "");
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_TRUE(summary->complete);
  EXPECT_FALSE(summary->already_complete);
  EXPECT_EQ(summary->records, 0u);
  EXPECT_EQ(ReadWholeFile(output()), "");
}

TEST_F(JobTest, TheSummaryCountsEverything) {
  WriteFile(input(), "a@1000\nbad\n\nb@1050\r\na@1060\n");
  options_.shards = 2;
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->records, 3u);
  EXPECT_EQ(summary->records_in_this_run, 3u);
  EXPECT_EQ(summary->input_lines, 5u);
  EXPECT_EQ(summary->input_bytes, 27u);
  EXPECT_EQ(summary->malformed_lines, 1u);
  ASSERT_THAT(summary->shards, SizeIs(2));
  EXPECT_EQ(summary->shards[0].records + summary->shards[1].records, 3u);
  EXPECT_EQ(summary->shards[1].directory,
            options_.state_directory + "/shard-00001");
  EXPECT_EQ(summary->shards[1].output, output() + "/part-00001");
  ASSERT_THAT(summary->states, SizeIs(2));
  EXPECT_EQ(summary->states[0].state, "count");
  EXPECT_EQ(summary->states[0].live_entries, 2u);
  EXPECT_EQ(summary->states[1].state, "recent");
  EXPECT_EQ(summary->states[1].live_entries, 3u);
}

TEST_F(JobTest, NowIsTheLargestEventTimeOfTheShard) {
  WriteFile(input(), "a@1000\nb@1100\na@1050\na@1149\na@1150\na@1300\n");
  ASSERT_THAT(RunJob(), IsOk());
  // When a comes back at 1050 it is 1100 already: the visit at 1000 is over,
  // and the one at 1050 is stamped with 1100.
  EXPECT_THAT(LinesOf(output()),
              ElementsAre("a 1000 1 1", "b 1100 1 1", "a 1050 1 1",
                          "a 1149 2 2", "a 1150 3 3", "a 1300 1 1"));
}

// Puts out what a function is told of an element.
class Echo final : public KeyedProcessFunction<std::string, Visit, Visit> {
 public:
  explicit Echo(std::vector<std::string>& told) : told_(told) {}

  absl::Status Open(RuntimeContext& context) override {
    told_.push_back(absl::StrCat(context.job_name(), " ", context.shard(), "/",
                                 context.shards()));
    return absl::OkStatus();
  }

  absl::Status ProcessElement(const Visit& visit, Context& context,
                              Collector<Visit>& out) override {
    told_.push_back(absl::StrCat(
        context.current_key(), " ",
        context.timestamp_ms() ? absl::StrCat(*context.timestamp_ms()) : "-",
        " ", context.watermark_ms()));
    // As many elements as there are letters in the key.
    for (std::size_t i = 0; i < visit.user.size(); ++i) out.Collect(visit);
    return absl::OkStatus();
  }

 private:
  std::vector<std::string>& told_;
};

TEST_F(JobTest, AFunctionIsToldOfShardAndElement) {
  WriteFile(input(), "a@1000\nbb@900\n");
  std::vector<std::string> told;
  for (const bool event_time : {true, false}) {
    Job<std::string, Visit, Visit> job(options_);
    job.From(MakeFileSource(input()), ParseVisit)
        .KeyBy([](const Visit& visit) { return visit.user; })
        .Process([&] { return std::make_unique<Echo>(told); })
        .To(MakeFileSink(output()),
            [](const Visit& visit, std::string& line) { line += visit.user; });
    if (event_time) {
      job.WithTimestamps([](const Visit& visit) { return visit.time_ms; });
    }
    EXPECT_THAT(job.Run(), IsOk());
    EXPECT_EQ(ReadWholeFile(output()), "a\nbb\nbb\n");
    ForgetAll();
  }
  EXPECT_THAT(told, ElementsAre("visits 0/1", "a 1000 1000", "bb 900 1000",
                                "visits 0/1", "a - 0", "bb - 0"));
}

TEST_F(JobTest, ALastLineWithoutNewlineIsProcessed) {
  WriteFile(input(), "a@1000\na@1001");
  ASSERT_THAT(RunJob(), IsOk());
  ExpectOutputFor({"a@1000", "a@1001"});
}

TEST_F(JobTest, AFinishedJobHasNothingToDoAgain) {
  const std::vector<std::string> lines = VisitLines(100);
  WriteInput(lines);
  ASSERT_THAT(RunJob(), IsOk());
  const std::string before = ReadWholeFile(output());
  const auto again = RunJob();
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->complete);
  EXPECT_TRUE(again->already_complete);
  EXPECT_EQ(again->records, 100u);
  EXPECT_EQ(again->records_in_this_run, 0u);
  EXPECT_EQ(again->shards[0].commits, 0u);
  EXPECT_EQ(ReadWholeFile(output()), before);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("goes on after line 100 of")));
}

TEST_F(JobTest, AnInputThatHasGrownIsGoneOnWith) {
  std::vector<std::string> lines = VisitLines(100);
  options_.shards = 2;
  WriteInput({lines.begin(), lines.begin() + 60});
  ASSERT_THAT(RunJob(), IsOk());
  WriteInput(lines);
  const auto again = RunJob();
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->already_complete);
  EXPECT_EQ(again->records_in_this_run, 40u);
  EXPECT_EQ(again->records, 100u);
  ExpectOutputFor(lines);
}

TEST_F(JobTest, ACutOffLastLineIsReadAgainOnceItIsWhole) {
  WriteFile(input(), "a@1000\na");
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 1u);
  EXPECT_EQ(summary->input_bytes, 7u);
  const auto same = RunJob();
  ASSERT_THAT(same, IsOk());
  EXPECT_TRUE(same->already_complete);
  EXPECT_EQ(same->malformed_lines, 1u);
  AppendToFile(input(), "@1001\na@1002\n");
  const auto grown = RunJob();
  ASSERT_THAT(grown, IsOk());
  EXPECT_EQ(grown->malformed_lines, 0u);
  ExpectOutputFor({"a@1000", "a@1001", "a@1002"});
}

TEST_F(JobTest, OnHeapWithoutADirectoryNothingIsKept) {
  options_.state_directory = "";
  options_.backend = BackendKind::kHeap;
  const std::vector<std::string> lines = VisitLines(100);
  WriteInput(lines);
  for (int run = 0; run < 2; ++run) {
    const auto summary = RunJob();
    ASSERT_THAT(summary, IsOk());
    EXPECT_EQ(summary->records_in_this_run, 100u);
    EXPECT_EQ(summary->shards[0].directory, "");
    ExpectOutputFor(lines);
  }
}

TEST_F(JobTest, CommitsByRecords) {
  WriteInput(VisitLines(100));
  options_.commit_records_max = 20;
  const auto small = RunJob();
  ASSERT_THAT(small, IsOk());
  // Five of 20 lines, and one for the end of the input.
  EXPECT_EQ(small->shards[0].commits, 6u);

  ForgetAll();
  WriteInput(VisitLines(3000));
  options_.commit_records_max = 1000;
  const auto large = RunJob();
  ASSERT_THAT(large, IsOk());
  // At the end of the batches of 512 in which a thousand is full, and of all.
  EXPECT_EQ(large->shards[0].commits, 3u);
}

TEST_F(JobTest, CommitsByTime) {
  WriteInput(VisitLines(5000));
  const auto clock = std::make_shared<ManualClock>(1'000'000);
  options_.processing_clock = clock;
  options_.commit_records_max = 1'000'000;
  options_.commit_interval = std::chrono::seconds(10);
  std::int64_t elements = 0;
  const auto summary = RunJob({.before_each = [&](const Visit&) {
    if (++elements == 3000) clock->Advance(std::chrono::seconds(10));
    return absl::OkStatus();
  }});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->shards[0].commits, 2u);
}

TEST_F(JobTest, CommitsWhenTheBackendAsksForIt) {
  WriteInput(VisitLines(2000));
  options_.commit_records_max = 1'000'000;
  options_.table_bytes_max = 1;
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  // After each of the four stretches of 512 lines at most, and at the end.
  EXPECT_EQ(summary->shards[0].commits, 4u);
}

// RocksDB leaves the options of an open database in a file beside it.
TEST_F(JobTest, GivesItsRocksdbOptionsToEachShard) {
  WriteInput(VisitLines(100));
  options_.shards = 2;
  options_.rocksdb.background_jobs = 7;
  options_.rocksdb.all_states.file_bytes = 12'345'678;
  ASSERT_THAT(RunJob(), IsOk());
  for (const char* const shard : {"shard-00000", "shard-00001"}) {
    std::string options;
    for (const auto& file : std::filesystem::directory_iterator(
             options_.state_directory + "/" + shard + "/db")) {
      if (file.path().filename().string().starts_with("OPTIONS-")) {
        options = absl::StrJoin(LinesOf(file.path()), "\n");
      }
    }
    EXPECT_THAT(options, HasSubstr("max_background_jobs=7")) << shard;
    EXPECT_THAT(options, HasSubstr("target_file_size_base=12345678")) << shard;
  }
}

TEST_F(JobTest, ReportsProgress) {
  const std::vector<std::string> lines = VisitLines(8000);
  WriteInput({lines.begin(), lines.begin() + 3000});
  ASSERT_THAT(RunJob(), IsOk());
  WriteInput(lines);
  const auto clock = std::make_shared<ManualClock>(1'000'000);
  options_.processing_clock = clock;
  options_.commit_records_max = 100;
  std::vector<JobProgress> reports;
  const auto summary =
      RunJob({.before_each =
                  [&](const Visit&) {
                    clock->Advance(std::chrono::milliseconds(1));
                    return absl::OkStatus();
                  },
              .change =
                  [&](VisitJob& job) {
                    job.OnProgress(std::chrono::seconds(1),
                                   [&](const JobProgress& progress) {
                                     reports.push_back(progress);
                                   });
                  }});
  ASSERT_THAT(summary, IsOk());
  // Five seconds pass, and the first reports may come late.
  ASSERT_THAT(reports, SizeIs(AllOf(Ge(2u), Le(5u))));
  for (const JobProgress& report : reports) {
    EXPECT_THAT(report.records_per_second, AllOf(Ge(800), Le(1100)));
  }
  const JobProgress& last = reports.back();
  EXPECT_EQ(last.input_bytes_total, summary->input_bytes);
  EXPECT_THAT(last.input_bytes, Le(summary->input_bytes));
  EXPECT_THAT(last.records, AllOf(Ge(4000u), Le(8000u)));
  EXPECT_THAT(last.watermark_ms, Ge(1000));
  ASSERT_THAT(last.states, SizeIs(2));
  EXPECT_THAT(last.states[1].live_entries, Ge(1u));
}

TEST_F(JobTest, StopsWhenAskedAndGoesOnLater) {
  const std::vector<std::string> lines = VisitLines(2000);
  WriteInput(lines);
  options_.shards = 2;
  std::atomic<int> elements = 0;
  VisitJob* running = nullptr;
  const auto stopped =
      RunJob({.before_each =
                  [&](const Visit&) {
                    if (++elements == 100) running->RequestStop();
                    return absl::OkStatus();
                  },
              .change = [&](VisitJob& job) { running = &job; }});
  ASSERT_THAT(stopped, IsOk());
  EXPECT_FALSE(stopped->complete);
  // What was read was processed and committed, and no more was read.
  EXPECT_EQ(stopped->records, static_cast<std::uint64_t>(elements));
  EXPECT_THAT(stopped->records, AllOf(Ge(100u), Le(400u)));
  EXPECT_EQ(stopped->input_lines, stopped->records);
  EXPECT_THAT(LinesOf(output()), SizeIs(stopped->records));
  const auto finished = RunJob();
  ASSERT_THAT(finished, IsOk());
  EXPECT_TRUE(finished->complete);
  EXPECT_EQ(finished->records_in_this_run, 2000 - stopped->records);
  ExpectOutputFor(lines);
}

TEST_F(JobTest, TheReaderWaitsForASlowShard) {
  // A source that counts what was taken from it.
  class Counting final : public Source {
   public:
    Counting(std::unique_ptr<Source> inner, std::atomic<std::int64_t>& count)
        : inner_(std::move(inner)), count_(count) {}
    const std::string& name() const override { return inner_->name(); }
    absl::Status Open() override { return inner_->Open(); }
    absl::Status SeekTo(const SourcePosition& position) override {
      return inner_->SeekTo(position);
    }
    absl::StatusOr<SourceRead> Next(SourceLine& line) override {
      ++count_;
      return inner_->Next(line);
    }
    std::optional<std::uint64_t> total_bytes() const override {
      return inner_->total_bytes();
    }

   private:
    const std::unique_ptr<Source> inner_;
    std::atomic<std::int64_t>& count_;
  };

  WriteInput(VisitLines(2000));
  options_.commit_records_max = 1;  // So that each line is handed over alone.
  std::atomic<std::int64_t> read = 0;
  std::int64_t processed = 0;
  std::int64_t ahead_max = 0;
  ASSERT_THAT(RunJob({.before_each =
                          [&](const Visit&) {
                            ahead_max =
                                std::max(ahead_max, read.load() - processed++);
                            return absl::OkStatus();
                          },
                      .change =
                          [&](VisitJob& job) {
                            job.From(std::make_unique<Counting>(
                                         MakeFileSource(input()), read),
                                     ParseVisit);
                          }}),
              IsOk());
  EXPECT_EQ(processed, 2000);
  // One is processed, four wait, one wants to be handed over.
  EXPECT_THAT(ahead_max, AllOf(Ge(1), Le(6)));
}

TEST_F(JobTest, RunsOnce) {
  WriteFile(input(), "a@1000\n");
  VisitJob job(options_);
  job.From(MakeFileSource(input()), ParseVisit);
  AddVisitCounter(job, MakeFileSink(output()), nullptr);
  EXPECT_THAT(job.Run(), IsOk());
  EXPECT_THAT(job.Run(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                  HasSubstr("make another one")));
}

TEST_F(JobTest, SaysWhatIsMissing) {
  const auto missing = [](const std::string& call) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(call));
  };
  VisitJob job(options_);
  EXPECT_THAT(job.Run(), missing("From()"));
  job.From(MakeFileSource(input()), nullptr);
  EXPECT_THAT(job.Run(), missing("From()"));
  job.From(MakeFileSource(input()), ParseVisit);
  EXPECT_THAT(job.Run(), missing("KeyBy()"));
  job.KeyBy([](const Visit& visit) { return visit.user; });
  EXPECT_THAT(job.Run(), missing("Process()"));
  job.Process([] { return MakeVisitCounter(); });
  EXPECT_THAT(job.Run(), missing("To()"));
  job.To(MakeFileSink(output()), FormatVisitCount);
  EXPECT_THAT(job.Run(), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace mayfly
