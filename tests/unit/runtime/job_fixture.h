// Runs the job of visits.h over files, as often as a test needs it to.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/runtime/test_files.h"
#include "tests/unit/runtime/visits.h"

namespace mayfly {

class JobFixture : public ::testing::Test {
 protected:
  // What a test may change before it runs the job.
  struct Run {
    // Called before each element is processed, on its shard's thread.
    std::function<absl::Status(const Visit&)> before_each = nullptr;
    // Called with the job when all is set that is set here.
    std::function<void(VisitJob&)> change = nullptr;
    // Instead of the file sink.
    std::unique_ptr<Sink> sink = nullptr;
  };

  JobFixture() {
    options_.name = "visits";
    options_.state_directory = directory_.Path("state");
    // Time stands still where a test does not say otherwise: commits are by
    // records, and so the same in every run.
    options_.commit_interval = std::chrono::hours(24);
    options_.commit_records_max = 10;
  }

  std::string input() const { return directory_.Path("in"); }
  std::string output() const { return directory_.Path("out"); }
  std::string Part(std::size_t shard) const {
    return options_.shards == 1 ? output()
                                : absl::StrCat(output(), "/part-0000", shard);
  }

  // Takes away what is remembered, and what was written.
  void ForgetAll() const {
    std::filesystem::remove_all(options_.state_directory);
    std::filesystem::remove_all(output());
  }

  void WriteInput(const std::vector<std::string>& lines) const {
    WriteFile(input(), absl::StrJoin(lines, "\n") + "\n");
  }

  absl::StatusOr<JobSummary> RunJob() { return RunJob(Run{}); }

  absl::StatusOr<JobSummary> RunJob(Run run) {
    VisitJob job(options_);
    job.From(MakeFileSource(input()), ParseVisit);
    AddVisitCounter(
        job, run.sink == nullptr ? MakeFileSink(output()) : std::move(run.sink),
        run.before_each);
    job.LogTo([this](std::string_view message) { log_.emplace_back(message); });
    if (run.change != nullptr) run.change(job);
    return job.Run();
  }

  // Each part is, line for line, what a run without any trouble writes.
  void ExpectOutputFor(const std::vector<std::string>& lines) const {
    const std::vector<std::vector<std::string>> expected =
        ExpectedVisits(lines, options_.shards);
    for (std::size_t shard = 0; shard < expected.size(); ++shard) {
      EXPECT_EQ(LinesOf(Part(shard)), expected[shard]) << Part(shard);
    }
  }

  TempDirectory directory_;
  JobOptions options_;
  std::vector<std::string> log_;
};

}  // namespace mayfly
