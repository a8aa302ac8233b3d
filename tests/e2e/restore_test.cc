// The demo job moves house: stopped with a savepoint and restored on the other
// backend with other shards; and is killed again and again while it takes
// checkpoints and while it is restored. It ends with the lines of an
// undisturbed run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/e2e/demo_job.h"
#include "tests/e2e/random_moments.h"
#include "tests/fault_rounds.h"

namespace mayfly::e2e {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using ::testing::HasSubstr;

std::vector<std::string> SortedLinesBelow(const std::string& directory) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(directory)) {
    for (std::string& line : Lines(ReadFileOrDie(entry.path().string()))) {
      lines.push_back(std::move(line));
    }
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> UndisturbedLines() {
  DemoJob job(DemoFlags{.shards = 2});
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return SortedLinesBelow(job.output_path());
}

// Starts the job on a pipe that gives it half of its input, and waits until
// some of its output is there.
std::unique_ptr<Process> StartHalf(const DemoJob& job) {
  auto process =
      std::make_unique<Process>(job.Command(), Process::Input::kPipe);
  const std::string flights = ReadFileOrDie(FlightsPath());
  process->Write(std::string_view(flights).substr(0, flights.size() / 2));
  while (job.OutputBytes() == 0) {
    EXPECT_FALSE(process->EndsWithin(microseconds(1000))) << process->err();
  }
  return process;
}

// Its input stays open until it has ended.
ProcessResult Stop(Process& process) {
  process.Signal(SIGTERM);
  while (!process.EndsWithin(microseconds(1000))) {
  }
  return process.Wait();
}

TEST(RestoreTest, OnTheOtherBackendWithOtherShardsFromASavepoint) {
  const std::vector<std::string> undisturbed = UndisturbedLines();
  for (const char* backend : {"rocksdb", "heap"}) {
    DemoJob job(DemoFlags{.backend = backend, .shards = 2, .input = "-"});
    const std::string savepoints = job.Path("savepoints");
    job.flags().more = {"--savepoint-on-stop=" + savepoints};
    const auto process = StartHalf(job);
    const ProcessResult stopped = Stop(*process);
    ASSERT_EQ(stopped.exit_code, 128 + SIGTERM) << stopped.err;
    EXPECT_THAT(stopped.out, HasSubstr("newest savepoint is " + savepoints));

    job.flags().backend = job.flags().backend == "heap" ? "rocksdb" : "heap";
    job.flags().shards = 3;
    job.flags().input = FlightsPath();
    job.flags().more = {"--state-dir=" + job.Path("moved"),
                        "--restore-from=" + savepoints};
    const ProcessResult result = job.Run();
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("is restored from " + savepoints));
    EXPECT_THAT(result.out, HasSubstr("20,000 with earlier runs"));
    EXPECT_THAT(result.out, HasSubstr("3 parts, 2.1 MB"));
    EXPECT_TRUE(SortedLinesBelow(job.output_path()) == undisturbed);
  }
}

// The part of the shard that is no more is the job's still.
TEST(RestoreTest, CountsThePartsOfShardsThatAreNoMore) {
  DemoJob job(DemoFlags{.shards = 3, .input = "-"});
  const std::string savepoints = job.Path("savepoints");
  job.flags().more = {"--savepoint-on-stop=" + savepoints};
  const auto process = StartHalf(job);
  ASSERT_EQ(Stop(*process).exit_code, 128 + SIGTERM);
  job.flags().shards = 2;
  job.flags().input = FlightsPath();
  job.flags().more = {"--state-dir=" + job.Path("moved"),
                      "--restore-from=" + savepoints};
  const ProcessResult result = job.Run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("3 parts, 2.1 MB"));
}

// The same flags in each start, also when the state is lost.
TEST(RestoreTest, FromItsOwnCheckpointsWhateverHasBeenLost) {
  const std::vector<std::string> undisturbed = UndisturbedLines();
  DemoJob job(DemoFlags{.shards = 2, .input = "-"});
  const std::string checkpoints = job.Path("checkpoints");
  job.flags().more = {"--checkpoint-dir=" + checkpoints,
                      "--restore-from=" + checkpoints};
  const auto process = StartHalf(job);
  const ProcessResult stopped = Stop(*process);
  ASSERT_EQ(stopped.exit_code, 128 + SIGTERM) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("has no checkpoint in"));
  EXPECT_THAT(stopped.out, HasSubstr("newest checkpoint is " + checkpoints +
                                     "/checkpoint-00001"));

  fs::remove_all(job.state_path());
  job.flags().input = FlightsPath();
  const ProcessResult result = job.Run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("is restored from " + checkpoints +
                                    "/checkpoint-00001"));
  EXPECT_TRUE(SortedLinesBelow(job.output_path()) == undisturbed);
}

// Another run on the same checkpoints is refused, at once or later.
TEST(RestoreTest, CheckpointsAreOfOneRunAlone) {
  DemoJob job(DemoFlags{.shards = 2, .input = "-"});
  const std::string checkpoints = job.Path("checkpoints");
  job.flags().more = {"--checkpoint-dir=" + checkpoints};
  const auto process = StartHalf(job);
  DemoJob other(DemoFlags{.shards = 2, .more = job.flags().more});
  const auto expect_refused = [&](const std::string& why) {
    const ProcessResult refused = other.Run();
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(Lines(refused.err), ::testing::SizeIs(1)) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("'" + checkpoints + "'"));
    EXPECT_THAT(refused.err, HasSubstr(why));
    EXPECT_FALSE(fs::exists(other.state_path()));
  };
  expect_refused("in use by process " + std::to_string(process->pid()));
  ASSERT_EQ(Stop(*process).exit_code, 128 + SIGTERM);
  expect_refused("give this one a directory of its own");
  EXPECT_TRUE(fs::exists(checkpoints + "/checkpoint-00001"));
}

TEST(RestoreTest, ASignalWithoutAPlaceForCheckpointsIsAnswered) {
  DemoJob job(DemoFlags{.shards = 2, .input = "-"});
  const auto process = StartHalf(job);
  process->Signal(SIGUSR1);
  while (process->err().find("takes none") == std::string::npos) {
    ASSERT_FALSE(process->EndsWithin(microseconds(1000))) << process->err();
  }
  EXPECT_EQ(Stop(*process).exit_code, 128 + SIGTERM);
}

TEST(RestoreTest, FromACheckpointThatASignalAskedFor) {
  const std::vector<std::string> undisturbed = UndisturbedLines();
  DemoJob job(DemoFlags{.shards = 2, .input = "-"});
  const std::string checkpoints = job.Path("checkpoints");
  job.flags().more = {"--checkpoint-dir=" + checkpoints};
  const auto process = StartHalf(job);
  process->Signal(SIGUSR1);
  while (!fs::exists(checkpoints + "/checkpoint-00001")) {
    ASSERT_FALSE(process->EndsWithin(microseconds(1000))) << process->err();
  }
  process->Signal(SIGKILL);
  ASSERT_EQ(process->Wait().signal, SIGKILL);
  // The disk is lost.
  fs::remove_all(job.state_path());
  job.flags().input = FlightsPath();
  job.flags().more.push_back("--restore-from=" + checkpoints);
  const ProcessResult result = job.Run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(SortedLinesBelow(job.output_path()) == undisturbed);
}

// Of one that had more shards, and no checkpoint yet.
TEST(RestoreTest, APartOfALifeThatIsLostIsNamedAndMayBeMovedAway) {
  const std::vector<std::string> undisturbed = UndisturbedLines();
  DemoJob job(DemoFlags{.shards = 2});
  const std::string checkpoints = job.Path("checkpoints");
  job.flags().more = {"--checkpoint-dir=" + checkpoints};
  ASSERT_EQ(job.Run().exit_code, 0);
  fs::remove_all(job.state_path());
  const std::string part = job.output_path() + "/part-00002";
  WriteFileOrDie(part, undisturbed.front() + "\n");
  job.flags().more.push_back("--restore-from=" + checkpoints);
  const ProcessResult refused = job.Run();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("holds part-00002, of a job with more "
                                     "than 2 shards; move it away"));
  EXPECT_FALSE(fs::exists(job.state_path()));
  fs::remove(part);
  EXPECT_EQ(job.Run().exit_code, 0);
  EXPECT_TRUE(SortedLinesBelow(job.output_path()) == undisturbed);
}

class RestoreKillTest : public ::testing::TestWithParam<DemoFlags> {
 protected:
  // False if it ended before that.
  bool KillAtSomeMoment(const DemoJob& job) {
    Process process(job.Command());
    const microseconds moment(random_.Between(5'000, 250'000));
    if (process.EndsWithin(moment)) return false;
    process.Signal(SIGKILL);
    return process.Wait().signal == SIGKILL;
  }

  static bool HasCheckpoint(const std::string& directory) {
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(directory, none_yet)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("checkpoint-") && !name.ends_with(".tmp")) {
        return true;
      }
    }
    return false;
  }

  // To the end. A life with three shards that is lost before its first
  // checkpoint leaves a part that a restore with two knows nothing of, refuses
  // and names; it is moved away then, as the operator is told to.
  static ProcessResult RunToTheEnd(const DemoJob& job) {
    const std::string part = job.output_path() + "/part-00002";
    ProcessResult result = job.Run();
    if (result.exit_code == 0) return result;
    EXPECT_THAT(result.err,
                HasSubstr("holds part-00002, of a job with more than 2 shards; "
                          "move it away"));
    fs::remove(part);
    return job.Run();
  }

  RandomMoments random_;
};

// After a kill the state may be lost, and is then restored with another number
// of shards and on another backend now and then. Kills come at any moment: amid
// restores, checkpoints, or nothing at all.
TEST_P(RestoreKillTest, NoLineIsLostAndNoneIsThereTwice) {
  const std::vector<std::string> undisturbed = UndisturbedLines();
  const int kills_wanted = FaultRounds(8);
  int kills = 0;
  int restores = 0;
  while (kills < kills_wanted) {
    DemoJob job(GetParam());
    const std::string checkpoints = job.Path("checkpoints");
    const std::vector<std::string> more = {"--commit-interval=5ms",
                                           "--checkpoint-dir=" + checkpoints,
                                           "--checkpoint-interval=5ms"};
    job.flags().more = more;
    while (kills < kills_wanted && KillAtSomeMoment(job)) {
      ++kills;
      if (!HasCheckpoint(checkpoints)) continue;
      job.flags().more = more;
      job.flags().more.push_back("--restore-from=" + checkpoints);
      if (random_.Between(0, 2) == 0) continue;
      ++restores;
      fs::remove_all(job.state_path());
      job.flags().shards = static_cast<int>(random_.Between(2, 3));
      job.flags().backend = random_.Between(0, 1) == 0 ? "heap" : "rocksdb";
    }
    const ProcessResult result = RunToTheEnd(job);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ASSERT_TRUE(SortedLinesBelow(job.output_path()) == undisturbed)
        << result.err;
  }
  std::cout << kills << " kills, after " << restores
            << " of which the state was lost" << std::endl;
}

INSTANTIATE_TEST_SUITE_P(All, RestoreKillTest,
                         ::testing::Values(DemoFlags{"heap", 2},
                                           DemoFlags{"rocksdb", 2}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace mayfly::e2e
