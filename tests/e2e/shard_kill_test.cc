// Killed at random moments while it opens, migrates, writes, commits and
// sweeps, a shard is after each kill as an undisturbed one was at that commit:
// what was committed is there, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "mayfly/testing/temp_directory.h"
#include "tests/e2e/demo_job.h"
#include "tests/e2e/random_moments.h"
#include "tests/fault_rounds.h"

namespace mayfly::e2e {
namespace {

using std::chrono::microseconds;
using ::testing::SizeIs;

constexpr int kSteps = 32;

int StepOf(const std::string& look) { return std::stoi(look); }

class ShardKillTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> Command(const TempDirectory& directory) const {
    return {MAYFLY_SHARD_WORKER, directory.Path("shard"), GetParam(),
            std::to_string(kSteps)};
  }

  void SetUp() override {
    const TempDirectory directory;
    const auto began = std::chrono::steady_clock::now();
    const ProcessResult result = RunProcess(Command(directory));
    duration_ = std::chrono::duration_cast<microseconds>(
        std::chrono::steady_clock::now() - began);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const std::string& look : Lines(result.out)) {
      // More than one look at a step shows the same.
      const auto known = undisturbed_.emplace(StepOf(look), look).first;
      ASSERT_EQ(known->second, look);
    }
    ASSERT_THAT(undisturbed_, SizeIs(kSteps + 1));
  }

  // Looks as the undisturbed one looked, from where the last one ended.
  void ExpectUndisturbed(const ProcessResult& result) {
    for (const std::string& look : Lines(result.out)) {
      if (look.find(' ') == std::string::npos) break;  // Killed amid a line.
      ASSERT_EQ(undisturbed_.at(StepOf(look)), look);
      ASSERT_GE(StepOf(look), committed_) << "a commit is lost";
      committed_ = StepOf(look);
    }
  }

  RandomMoments random_;
  microseconds duration_{0};
  std::map<int, std::string> undisturbed_;
  // Steps of which a look has shown that they are.
  int committed_ = 0;
};

TEST_P(ShardKillTest, IsAsAnUndisturbedOneAfterEachKill) {
  std::map<std::string, int> kills_while;
  int kills = 0;
  while (kills < FaultRounds(20)) {
    const TempDirectory directory;
    committed_ = 0;
    for (bool ended = false; !ended && kills < FaultRounds(20);) {
      Process process(Command(directory));
      if (!process.EndsWithin(
              microseconds(random_.Between(0, duration_.count() / 2)))) {
        process.Signal(SIGKILL);
      }
      const ProcessResult result = process.Wait();
      // It may have come to its end just before that.
      ended = result.signal == 0;
      ASSERT_TRUE(!ended || result.exit_code == 0) << result.err;
      ASSERT_NO_FATAL_FAILURE(ExpectUndisturbed(result));
      if (ended) break;
      ++kills;
      const std::vector<std::string> doing = Lines(result.err);
      ++kills_while[doing.empty() ? "starting" : doing.back()];
    }
    const ProcessResult result = RunProcess(Command(directory));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ASSERT_NO_FATAL_FAILURE(ExpectUndisturbed(result));
    ASSERT_EQ(committed_, kSteps);
  }
  std::cout << kills << " kills while";
  for (const auto& [doing, times] : kills_while) {
    std::cout << " " << doing << ": " << times;
  }
  std::cout << std::endl;
}

INSTANTIATE_TEST_SUITE_P(Backends, ShardKillTest,
                         ::testing::Values("heap", "rocksdb"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace mayfly::e2e
