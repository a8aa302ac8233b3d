// Killed at random moments and started again, the demo job writes what it
// would have written undisturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "tests/e2e/demo_job.h"
#include "tests/e2e/random_moments.h"
#include "tests/fault_rounds.h"

namespace mayfly::e2e {
namespace {

using std::chrono::microseconds;
using ::testing::HasSubstr;

class KillTest : public ::testing::TestWithParam<DemoFlags> {
 protected:
  void SetUp() override {
    DemoJob undisturbed(Flags());
    const auto start = std::chrono::steady_clock::now();
    const ProcessResult result = undisturbed.Run();
    duration_ = std::chrono::duration_cast<microseconds>(
        std::chrono::steady_clock::now() - start);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    parts_ = undisturbed.Parts();
    bytes_ = undisturbed.OutputBytes();
  }

  // Commits follow one another as fast as they can, so that many are under way
  // when the job is killed.
  static DemoFlags Flags() {
    DemoFlags flags = GetParam();
    flags.more = {"--commit-interval=1ms"};
    return flags;
  }

  // Kills the job at some moment of its life; false if it ended before that.
  bool KillAtSomeMoment(const DemoJob& job) {
    Process process(job.Command());
    return (random_.Between(0, 1) == 0 ? KillAfterSomeTime(process)
                                       : KillAfterSomeOutput(process, job)) &&
           process.Wait().signal == SIGKILL;
  }

  // The start and the end of a run are as likely as what lies between.
  bool KillAfterSomeTime(Process& process) {
    if (process.EndsWithin(
            microseconds(random_.Between(0, duration_.count())))) {
      return false;
    }
    process.Signal(SIGKILL);
    return true;
  }

  // Output is written just before a commit, so this comes amid one.
  bool KillAfterSomeOutput(Process& process, const DemoJob& job) {
    const auto bytes = static_cast<std::uint64_t>(
        random_.Between(static_cast<std::int64_t>(job.OutputBytes()),
                        static_cast<std::int64_t>(bytes_)));
    while (job.OutputBytes() <= bytes) {
      if (process.EndsWithin(microseconds(50))) return false;
    }
    process.Signal(SIGKILL);
    return true;
  }

  RandomMoments random_;
  microseconds duration_{0};
  std::vector<std::string> parts_;
  std::uint64_t bytes_ = 0;
};

TEST_P(KillTest, OutputIsAsIfNothingHadHappened) {
  const int kills_wanted = FaultRounds(30);
  int kills = 0;
  int jobs = 0;
  int resumed = 0;
  while (kills < kills_wanted) {
    const DemoJob job(Flags());
    ++jobs;
    while (kills < kills_wanted && KillAtSomeMoment(job)) ++kills;
    const ProcessResult result = job.Run();
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ASSERT_THAT(result.out, HasSubstr("20,000"));
    const std::vector<std::string> parts = job.Parts();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      // Not EXPECT_EQ: it would print megabytes.
      ASSERT_TRUE(parts[i] == parts_[i])
          << "part " << i << " has " << parts[i].size() << " bytes in place of "
          << parts_[i].size() << ", or other ones";
    }
    if (result.out.find("with earlier runs") != std::string::npos) ++resumed;
  }
  std::cout << kills << " kills of " << jobs << " jobs, of which " << resumed
            << " went on from a commit" << std::endl;
  // Or the kills came where there was nothing to be lost.
  EXPECT_GE(resumed, 2);
}

INSTANTIATE_TEST_SUITE_P(All, KillTest,
                         ::testing::Values(DemoFlags{"heap", 1},
                                           DemoFlags{"heap", 3},
                                           DemoFlags{"rocksdb", 1},
                                           DemoFlags{"rocksdb", 3}),
                         ::testing::PrintToStringParamName());

// Asked to stop, it commits what it has and says how to go on.
TEST(StopTest, GoesOnWhereItWasStopped) {
  DemoJob undisturbed({});
  ASSERT_EQ(undisturbed.Run().exit_code, 0);

  DemoJob job(DemoFlags{.input = "-"});
  const std::string flights = ReadFileOrDie(FlightsPath());
  Process process(job.Command(), Process::Input::kPipe);
  process.Write(std::string_view(flights).substr(0, flights.size() / 2));
  while (job.OutputBytes() == 0) {
    ASSERT_FALSE(process.EndsWithin(microseconds(1000))) << process.err();
  }
  process.Signal(SIGTERM);
  const ProcessResult stopped = process.Wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGTERM) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("it goes on from here"));

  const ProcessResult result = job.Run(flights);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("with earlier runs"));
  EXPECT_TRUE(job.Parts() == undisturbed.Parts());

  const ProcessResult again = job.Run(flights);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("Nothing to do"));
  EXPECT_TRUE(job.Parts() == undisturbed.Parts());
}

}  // namespace
}  // namespace mayfly::e2e
