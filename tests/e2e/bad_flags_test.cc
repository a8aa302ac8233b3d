// A command line that makes no sense: one line that names the flag, the value
// and what would do; exit code 2; nothing touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct BadFlag {
  const char* flag;
  // Parts of the message.
  std::vector<const char*> says;
};

class BadFlagTest : public ::testing::TestWithParam<BadFlag> {};

TEST_P(BadFlagTest, IsRefused) {
  DemoJob job({});
  job.flags().more = {GetParam().flag};
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(Lines(result.err), SizeIs(1)) << result.err;
  EXPECT_THAT(result.err, StartsWith("airport_delays: "));
  for (const char* part : GetParam().says) {
    EXPECT_THAT(result.err, HasSubstr(part));
  }
  EXPECT_FALSE(std::filesystem::exists(job.state_path()));
  EXPECT_FALSE(std::filesystem::exists(job.output_path()));
}

INSTANTIATE_TEST_SUITE_P(
    Ttl, BadFlagTest,
    ::testing::Values(
        BadFlag{"--ttl=0", {"--ttl=0: ", "> 0 ms", "3h", "infinite"}},
        BadFlag{"--ttl=0s", {"--ttl=0s: ", "> 0 ms"}},
        BadFlag{"--ttl=-1", {"--ttl=-1: ", "not a duration", "3h"}},
        BadFlag{"--ttl=-1h", {"--ttl=-1h: ", "> 0 ms", "-3600000"}},
        BadFlag{"--ttl=1us", {"--ttl=1us: ", "whole number of milliseconds"}},
        BadFlag{"--ttl=1.5ms", {"--ttl=1.5ms: ", "whole number"}},
        BadFlag{"--ttl=abc", {"--ttl=abc: ", "not a duration", "infinite"}},
        BadFlag{"--ttl=3", {"--ttl=3: ", "not a duration"}},
        BadFlag{"--ttl=3 h", {"--ttl=3 h: ", "not a duration"}},
        BadFlag{"--ttl=", {"--ttl=: ", "not a duration"}}));

INSTANTIATE_TEST_SUITE_P(
    Others, BadFlagTest,
    ::testing::Values(
        BadFlag{"--frobnicate=1", {"no flag --frobnicate", "--ttl", "--help"}},
        BadFlag{"--undefok=x", {"no flag --undefok"}},
        BadFlag{"-x", {"'-x' is not a flag", "--help"}},
        BadFlag{"flights", {"'flights' is not a flag", "--help"}},
        BadFlag{"--shards", {"--shards needs a value"}},
        BadFlag{"--shards=0", {"--shards=0: ", "1 to 1000"}},
        BadFlag{"--shards=two", {"--shards=two: ", "1 to 1000"}},
        BadFlag{"--shards=1001", {"--shards=1001: ", "1 to 1000"}},
        BadFlag{"--time=lunar", {"--time=lunar: ", "event or processing"}},
        BadFlag{"--update=never", {"--update=never: ", "write or read"}},
        BadFlag{"--visibility=yes", {"=yes: ", "never or until-cleaned"}},
        BadFlag{"--backend=lmdb", {"--backend=lmdb: ", "rocksdb or heap"}},
        BadFlag{"--commit-interval=0", {"=0: ", "1ms to 24h"}},
        BadFlag{"--progress-interval=1w", {"=1w: ", "1ms to 24h"}},
        BadFlag{"--max-malformed=-1", {"=-1: ", "unlimited"}},
        BadFlag{"--checkpoint-keep=0", {"=0: ", "1 to 1000"}},
        BadFlag{"--checkpoint-interval=1w", {"=1w: ", "1ms to 24h"}},
        BadFlag{"--input=", {"--input=: ", "standard input"}},
        BadFlag{"--output=", {"--output=: ", "standard output"}},
        BadFlag{"--state-dir=", {"--state-dir=: ", "--backend=heap"}}));

TEST(Flags, HelpListsThemWithTheirDefaults) {
  const ProcessResult result = RunProcess({MAYFLY_AIRPORT_DELAYS, "--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* flag :
       {"--input=-\n", "--output=-\n", "--state-dir=airport_delays.state\n",
        "--ttl=3h\n", "--time=event\n", "--backend=rocksdb\n", "--shards=2\n",
        "--update=write\n", "--visibility=never\n", "--commit-interval=1s\n",
        "--max-malformed=unlimited\n", "--progress-interval=1s\n",
        "--checkpoint-dir=\n", "--checkpoint-interval=10m\n",
        "--checkpoint-keep=3\n", "--savepoint-on-stop=\n",
        "--restore-from=\n"}) {
    EXPECT_THAT(result.out, HasSubstr(flag));
  }
}

TEST(Flags, MayHaveTheirValuesBehindThem) {
  DemoJob job(DemoFlags{.more = {"--ttl", "1500ms", "--shards", "1"}});
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// All it keeps is in memory, and reports go where only reports may go.
TEST(Flags, AllowAPipeWithoutAnyFiles) {
  const ProcessResult result = RunProcess(
      {MAYFLY_AIRPORT_DELAYS, "--backend=heap", "--state-dir=", "--shards=1"},
      ReadFileOrDie(FlightsPath()));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(Lines(result.out), SizeIs(20'000));
  EXPECT_THAT(result.err, HasSubstr("records 20,000"));
}

}  // namespace
}  // namespace mayfly::e2e
