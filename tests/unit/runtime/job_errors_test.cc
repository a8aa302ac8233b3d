// What ends a job, and what it says then.
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class JobErrorsTest : public JobFixture {
 protected:
  // The job did not get as far as making anything.
  void ExpectNothingTouched() const {
    EXPECT_FALSE(std::filesystem::exists(options_.state_directory));
    EXPECT_FALSE(std::filesystem::exists(output()));
  }
};

TEST_F(JobErrorsTest, AMissingInputChangesNothing) {
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kNotFound,
                                 AllOf(StartsWith("job 'visits': "),
                                       HasSubstr(input()))));
  ExpectNothingTouched();
}

TEST_F(JobErrorsTest, ADirectoryAsInputChangesNothing) {
  std::filesystem::create_directory(input());
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("is a directory")));
  ExpectNothingTouched();
}

TEST_F(JobErrorsTest, AnOutputOfTheWrongKindChangesNothing) {
  WriteFile(input(), "a@1000\n");
  WriteFile(output(), "mine\n");
  options_.shards = 2;
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("give the path of a directory")));
  EXPECT_FALSE(std::filesystem::exists(options_.state_directory));
  EXPECT_EQ(ReadWholeFile(output()), "mine\n");
}

TEST_F(JobErrorsTest, TheInputIsNoOutput) {
  WriteFile(input(), "a@1000\n");
  std::filesystem::create_hard_link(input(), output());
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("is input and output")));
  EXPECT_EQ(ReadWholeFile(input()), "a@1000\n");
}

TEST_F(JobErrorsTest, AnotherNumberOfShardsLeavesTheOutputAlone) {
  WriteFile(input(), "a@1000\n");
  ASSERT_THAT(RunJob(), IsOk());
  const std::string before = ReadWholeFile(output());
  options_.shards = 2;
  EXPECT_THAT(RunJob({.sink = MakeFileSink(directory_.Path("parts"))}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("written with 1 shard, and 2 are")));
  EXPECT_FALSE(std::filesystem::exists(directory_.Path("parts")));
  EXPECT_EQ(ReadWholeFile(output()), before);
}

TEST_F(JobErrorsTest, StateThatDoesNotFitNamesTheShard) {
  WriteFile(input(), "a@1000\n");
  ASSERT_THAT(RunJob(), IsOk());
  const std::string before = ReadWholeFile(output());
  class OtherState final : public VisitFunction {
    absl::Status Open(RuntimeContext& context) override {
      return context.GetState(ValueStateDescriptor<std::string>("count"))
          .status();
    }
    absl::Status ProcessElement(const Visit&, Context&,
                                Collector<VisitCount>&) override {
      return absl::OkStatus();
    }
  };
  EXPECT_THAT(
      RunJob({.change =
                  [](VisitJob& job) {
                    job.Process([] { return std::make_unique<OtherState>(); });
                  }}),
      StatusIs(
          absl::StatusCode::kFailedPrecondition,
          AllOf(StartsWith("job 'visits': shard 0: "), HasSubstr("'count'"))));
  EXPECT_EQ(ReadWholeFile(output()), before);
}

TEST_F(JobErrorsTest, AnInputThatWasCutIsRefused) {
  WriteFile(input(), "a@1000\nb@1001\n");
  ASSERT_THAT(RunJob(), IsOk());
  WriteFile(input(), "a@1000\n");
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("the job had read 14")));
}

TEST_F(JobErrorsTest, AnOutputThatWasCutIsRefused) {
  WriteFile(input(), "a@1000\nb@1001\n");
  ASSERT_THAT(RunJob(), IsOk());
  WriteFile(output(), "a");
  EXPECT_THAT(RunJob(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(output()), HasSubstr("has 1 bytes"))));
}

TEST_F(JobErrorsTest, AFullDiskNamesTheOutput) {
  WriteFile(input(), "a@1000\n");
  EXPECT_THAT(RunJob({.sink = MakeFileSink("/dev/full")}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(StartsWith("job 'visits': shard 0: "),
                             HasSubstr("/dev/full"))));
}

TEST_F(JobErrorsTest, AnErrorOfTheFunctionNamesLineAndShardAndKey) {
  WriteFile(input(), "a@1000\nbad\nb@1001\n");
  EXPECT_THAT(RunJob({.before_each =
                          [](const Visit& visit) {
                            return visit.user == "b"
                                       ? absl::NotFoundError("who is this?")
                                       : absl::OkStatus();
                          }}),
              StatusIs(absl::StatusCode::kNotFound,
                       "job 'visits': shard 0: " + input() +
                           ":3: key 0x62: who is this?"));
}

TEST_F(JobErrorsTest, AFunctionThatThrowsIsInternal) {
  WriteFile(input(), "abcdefghij@1000\n");
  const auto thrown = [&](auto what) {
    return RunJob({.before_each = [what](const Visit&) -> absl::Status {
             throw what;
           }})
        .status();
  };
  EXPECT_THAT(
      thrown(std::runtime_error("no luck")),
      StatusIs(absl::StatusCode::kInternal,
               AllOf(HasSubstr(input() + ":1: key 0x6162636465666768696a: "),
                     HasSubstr("ProcessElement() of the function threw: "
                               "no luck"))));
  EXPECT_THAT(thrown(7), StatusIs(absl::StatusCode::kInternal,
                                  HasSubstr("no std::exception")));
}

TEST_F(JobErrorsTest, AnyPartThatThrowsIsInternalAndNamed) {
  WriteFile(input(), "a@1000\nbad\n");
  const auto fails = [&](const std::string& who,
                         std::function<void(VisitJob&)> change) {
    EXPECT_THAT(RunJob({.change = std::move(change)}),
                StatusIs(absl::StatusCode::kInternal,
                         AllOf(HasSubstr(who), HasSubstr("threw: no luck"))));
  };
  const auto bad_luck = [] { throw std::runtime_error("no luck"); };
  fails(input() + ":1: the line deserializer", [&](VisitJob& job) {
    job.From(MakeFileSource(input()), [&](std::string_view line) {
      bad_luck();
      return ParseVisit(line);
    });
  });
  fails(input() + ":1: the key selector", [&](VisitJob& job) {
    job.KeyBy([&](const Visit& visit) {
      bad_luck();
      return visit.user;
    });
  });
  fails(input() + ":1: the timestamp extractor", [&](VisitJob& job) {
    job.WithTimestamps([&](const Visit& visit) {
      bad_luck();
      return visit.time_ms;
    });
  });
  fails("shard 0: Open() of the function", [&](VisitJob& job) {
    job.Process([&]() -> std::unique_ptr<VisitFunction> {
      bad_luck();
      return nullptr;
    });
  });
  fails(input() + ":1: the line serializer", [&](VisitJob& job) {
    job.To(MakeFileSink(output()),
           [&](const VisitCount&, std::string&) { bad_luck(); });
  });
  fails("a callback", [&](VisitJob& job) {
    job.OnMalformedLine([&](const MalformedLine&) { bad_luck(); });
  });
}

TEST_F(JobErrorsTest, AFactoryMustMakeFunctions) {
  WriteFile(input(), "a@1000\n");
  EXPECT_THAT(RunJob({.change =
                          [](VisitJob& job) {
                            job.Process([] {
                              return std::unique_ptr<VisitFunction>();
                            });
                          }}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("factory returned null")));
}

TEST_F(JobErrorsTest, MalformedLinesAreSkippedWithoutALimit) {
  WriteFile(input(), "bad\na@1000\n@\nworse");
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 3u);
  ExpectOutputFor({"a@1000"});
  const std::string reason = "not of the form user@time";
  EXPECT_THAT(log_, ElementsAre("malformed line " + input() + ":1: " + reason,
                                "malformed line " + input() + ":3: " + reason,
                                "malformed line " + input() + ":4: " + reason));
}

TEST_F(JobErrorsTest, NoMalformedLineAtAllIsALimitToo) {
  WriteFile(input(), "a@1000\nbad\n");
  options_.malformed_lines_max = 0;
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr(input() + ":2: not of the form")));
}

TEST_F(JobErrorsTest, BeyondTheLimitTheJobFailsAndGoesOnWithAHigherOne) {
  WriteFile(input(), "bad\na@1000\nbad\na@1001\nbad\na@1002\n");
  options_.commit_records_max = 1;
  options_.malformed_lines_max = 2;
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(RunJob(),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         AllOf(HasSubstr(":5: "), HasSubstr("so far: 3"))));
  }
  options_.malformed_lines_max = 3;
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 3u);
  ExpectOutputFor({"a@1000", "a@1001", "a@1002"});
}

TEST_F(JobErrorsTest, ALineBeyondTheSourcesLimitIsMalformed) {
  WriteFile(input(), "a@1000\n" + std::string(50, 'b') + "@1001\nc@1002\n");
  const auto summary = RunJob({.change = [&](VisitJob& job) {
    job.From(MakeFileSource(input(), {.line_bytes_max = 20}), ParseVisit);
  }});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->malformed_lines, 1u);
  EXPECT_THAT(log_,
              ElementsAre(HasSubstr(":2: the line is longer than 20 bytes")));
  ExpectOutputFor({"a@1000", "c@1002"});
}

TEST_F(JobErrorsTest, OneShardsErrorEndsAllOfThem) {
  const std::vector<std::string> lines = VisitLines(5000);
  WriteInput(lines);
  options_.shards = 7;
  std::atomic<int> after = 0;
  std::atomic<bool> failed = false;
  EXPECT_THAT(RunJob({.before_each =
                          [&](const Visit& visit) {
                            if (failed) ++after;
                            if (visit.user != "user7") return absl::OkStatus();
                            failed = true;
                            return absl::AbortedError("struck");
                          }}),
              StatusIs(absl::StatusCode::kAborted));
  // The six others end the batch they are at, 10 elements of all together.
  EXPECT_LT(after, 6 * 10 * 5);
  ASSERT_THAT(RunJob(), IsOk());
  ExpectOutputFor(lines);
}

}  // namespace
}  // namespace mayfly
