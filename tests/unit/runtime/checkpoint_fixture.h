// A job that takes checkpoints at lines of the test's choice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"
#include "tests/unit/runtime/pausing_source.h"

namespace mayfly {

class CheckpointFixture : public JobFixture {
 protected:
  static constexpr int kLines = 400;

  CheckpointFixture() {
    CheckpointOptions checkpoints;
    checkpoints.directory = directory_.Path("checkpoints");
    checkpoints.interval = std::nullopt;
    checkpoints.keep = 100;
    checkpoints.on_stop = false;
    options_.checkpoints = checkpoints;
    options_.savepoint_directory = directory_.Path("savepoints");
    lines_ = OrderedVisitLines(kLines);
    WriteInput(lines_);
  }

  // At times that never go back, so that what a job puts out does not depend
  // on how many shards it has.
  static std::vector<std::string> OrderedVisitLines(int lines) {
    std::minstd_rand random(11);
    std::vector<std::string> result;
    TimestampMs time_ms = 1000;
    for (int i = 0; i < lines; ++i) {
      time_ms += static_cast<TimestampMs>(random() % 9);
      result.push_back(absl::StrCat("user", random() % 20, "@", time_ms));
    }
    return result;
  }

  std::string Checkpoint(int number) const {
    return absl::StrCat(options_.checkpoints->directory, "/checkpoint-0000",
                        number);
  }
  std::string Savepoint(int number) const {
    return absl::StrCat(options_.savepoint_directory, "/savepoint-0000",
                        number);
  }

  // Runs the job and takes a checkpoint after each of these lines, and a
  // savepoint; after the last it goes on to the end.
  absl::StatusOr<JobSummary> RunWithCheckpointsAfter(
      std::set<std::uint64_t> lines) {
    return RunJob({.change = [&](VisitJob& job) { Pause(job, lines); }});
  }

  // Has the job wait for its checkpoint after each of these lines.
  void Pause(VisitJob& job, const std::set<std::uint64_t>& lines) {
    const auto asked = std::make_shared<std::set<std::uint64_t>>();
    job.From(std::make_unique<PausingSource>(
                 MakeFileSource(input()), lines,
                 [this, &job, asked](std::uint64_t line) {
                   if (asked->insert(line).second) {
                     job.RequestSavepoint();
                     job.RequestCheckpoint();
                   }
                   return std::filesystem::exists(
                       Checkpoint(static_cast<int>(asked->size())));
                 }),
             ParseVisit);
  }

  // The state is lost; the output is what it was then.
  void LoseState() const {
    std::filesystem::remove_all(options_.state_directory);
  }

  std::vector<std::string> SortedOutput() const {
    std::vector<std::string> lines = LinesOf(output());
    std::ranges::sort(lines);
    return lines;
  }

  // What all shards of an undisturbed run put out together.
  std::vector<std::string> SortedExpected() const {
    std::vector<std::string> lines = ExpectedVisits(lines_, 1).front();
    std::ranges::sort(lines);
    return lines;
  }

  bool Logged(const std::string& part) const {
    return std::ranges::any_of(log_, [&](const std::string& message) {
      return message.find(part) != std::string::npos;
    });
  }

  std::vector<std::string> lines_;
};

}  // namespace mayfly
