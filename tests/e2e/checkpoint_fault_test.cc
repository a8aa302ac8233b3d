// Checkpoints, savepoints and restores on a disk that fills up, and two jobs
// with one directory of checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "tests/e2e/demo_job.h"
#include "tests/e2e/small_disk.h"

namespace mayfly::e2e {
namespace {

namespace fs = std::filesystem;

using std::chrono::microseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckpointFaultTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_EQ(undisturbed_.Run().exit_code, 0);
    if (!disk_.mounted()) GTEST_SKIP() << "cannot mount: " << disk_.why_not();
  }

  // In place of the state, which is lost.
  ProcessResult Restore(const std::string& from) {
    job_.flags().more = {"--state-dir=" + job_.Path("disk/state"),
                         "--restore-from=" + from};
    return job_.Run();
  }

  void ExpectUndisturbed(const ProcessResult& result) {
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(job_.Parts() == undisturbed_.Parts());
  }

  DemoJob undisturbed_{DemoFlags{GetParam(), 2}};
  DemoJob job_{DemoFlags{GetParam(), 2}};
  SmallDisk disk_{job_.Path("disk"), "4k"};
};

INSTANTIATE_TEST_SUITE_P(Backends, CheckpointFaultTest,
                         ::testing::Values("heap", "rocksdb"),
                         [](const auto& test) { return test.param; });

// The job goes on without them, and says so.
TEST_P(CheckpointFaultTest, AFullDiskTakesNoCheckpointAndHarmsNobody) {
  const std::string checkpoints = job_.Path("disk/checkpoints");
  job_.flags().more = {"--checkpoint-dir=" + checkpoints,
                       "--checkpoint-interval=20ms"};
  const ProcessResult result = job_.Run();
  ExpectUndisturbed(result);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("took no checkpoint"), HasSubstr(checkpoints),
                    HasSubstr("No space left on device")));
  for (const auto& entry : fs::directory_iterator(checkpoints)) {
    EXPECT_EQ(entry.path().filename(), "LOCK");
  }
}

// A savepoint is what somebody waits for. With more room there is one.
TEST_P(CheckpointFaultTest, AFullDiskTakesNoSavepointAndLosesNothing) {
  const std::string savepoints = job_.Path("disk/savepoints");
  job_.flags().more = {"--savepoint-on-stop=" + savepoints};
  job_.flags().input = "-";
  const std::string flights = ReadFileOrDie(FlightsPath());
  const auto run_half = [&] {
    Process process(job_.Command(), Process::Input::kPipe);
    process.Write(std::string_view(flights).substr(0, flights.size() / 2));
    while (job_.OutputBytes() == 0) {
      EXPECT_FALSE(process.EndsWithin(microseconds(1000))) << process.err();
    }
    process.Signal(SIGTERM);
    return process.Wait();
  };
  const ProcessResult full = run_half();
  EXPECT_THAT(full.err, AllOf(HasSubstr("savepoint"), HasSubstr(savepoints),
                              HasSubstr("No space left on device")));
  EXPECT_NE(full.exit_code, 0);
  EXPECT_FALSE(fs::exists(savepoints + "/savepoint-00001"));

  disk_.Resize("10m");
  const ProcessResult stopped = run_half();
  EXPECT_EQ(stopped.exit_code, 128 + SIGTERM) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("newest savepoint is " + savepoints));
  fs::remove_all(job_.state_path());
  job_.flags().input = FlightsPath();
  job_.flags().more = {"--restore-from=" + savepoints};
  ExpectUndisturbed(job_.Run());
}

TEST_P(CheckpointFaultTest, ARestoreOnAFullDiskIsRefusedAndBegunAnew) {
  const std::string checkpoints = job_.Path("checkpoints");
  job_.flags().more = {"--checkpoint-dir=" + checkpoints,
                       "--checkpoint-interval=5ms"};
  ExpectUndisturbed(job_.Run());

  // Enough for the record of the job, and not for its shards.
  disk_.Resize("8k");
  const ProcessResult full = Restore(checkpoints);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, AllOf(HasSubstr(job_.Path("disk/state")),
                              HasSubstr("No space left on device"),
                              HasSubstr("free some space")));
  EXPECT_TRUE(job_.Parts() == undisturbed_.Parts());

  disk_.Resize("100m");
  const ProcessResult result = Restore(checkpoints);
  ExpectUndisturbed(result);
  EXPECT_THAT(result.err, HasSubstr("is restored from " + checkpoints));
}

TEST(TwoJobsTest, WithOneDirectoryOfCheckpointsTheSecondIsRefused) {
  const DemoJob other({});
  const std::string checkpoints = other.Path("checkpoints");
  DemoJob running(
      DemoFlags{.input = "-", .more = {"--checkpoint-dir=" + checkpoints}});
  Process process(running.Command(), Process::Input::kPipe);
  const std::string flights = ReadFileOrDie(FlightsPath());
  process.Write(std::string_view(flights).substr(0, flights.size() / 2));
  while (running.OutputBytes() == 0) {
    ASSERT_FALSE(process.EndsWithin(microseconds(1000))) << process.err();
  }

  DemoJob second(DemoFlags{.more = {"--checkpoint-dir=" + checkpoints}});
  const ProcessResult refused = second.Run();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(checkpoints), HasSubstr("in use"),
                                 HasSubstr(std::to_string(process.pid()))));
  EXPECT_EQ(second.OutputBytes(), 0u);

  process.Write(std::string_view(flights).substr(flights.size() / 2));
  const ProcessResult first = process.Wait();
  EXPECT_EQ(first.exit_code, 0) << first.err;
}

}  // namespace
}  // namespace mayfly::e2e
