// A disk that is full, or may not be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/e2e/demo_job.h"
#include "tests/e2e/small_disk.h"

namespace mayfly::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadDiskTest : public ::testing::TestWithParam<DemoFlags> {
 protected:
  void SetUp() override { ASSERT_EQ(undisturbed_.Run().exit_code, 0); }

  void ExpectGoodEnd() {
    const ProcessResult result = job_.Run();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(job_.Parts() == undisturbed_.Parts());
  }

  DemoJob undisturbed_{GetParam()};
  DemoJob job_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(All, BadDiskTest,
                         ::testing::Values(DemoFlags{"heap", 1},
                                           DemoFlags{"heap", 2},
                                           DemoFlags{"rocksdb", 1},
                                           DemoFlags{"rocksdb", 2}),
                         ::testing::PrintToStringParamName());

TEST_P(BadDiskTest, IsFullOfOutput) {
  // The output is what fills it.
  SmallDisk disk(job_.Path("disk"), "1m");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount: " << disk.why_not();
  const std::string output = job_.Path("disk/reports");
  DemoFlags& flags = job_.flags();
  flags.more = {"--output=" + output, "--commit-interval=5ms"};
  const ProcessResult full = job_.Run();
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err,
              AllOf(HasSubstr(output), HasSubstr("No space left on device"),
                    HasSubstr("free some space and start again")));

  disk.Resize("10m");
  const ProcessResult result = job_.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  fs::copy(output, job_.output_path(), fs::copy_options::recursive);
  EXPECT_TRUE(job_.Parts() == undisturbed_.Parts());
}

// Something else fills it while the job runs.
TEST_P(BadDiskTest, IsFullOfState) {
  SmallDisk disk(job_.Path("disk"), "1m");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount: " << disk.why_not();
  job_.flags().input = "-";
  job_.flags().more = {"--state-dir=" + job_.Path("disk/state"),
                       "--commit-interval=1ms"};
  const std::string flights = ReadFileOrDie(FlightsPath());
  Process process(job_.Command(), Process::Input::kPipe);
  process.Write(std::string_view(flights).substr(0, flights.size() / 2));
  while (job_.OutputBytes() == 0) {
    ASSERT_FALSE(process.EndsWithin(std::chrono::microseconds(1000)))
        << process.err();
  }
  // A commit that was under way when the room was filled leaves a little to
  // the next, so all that is left is filled again and again.
  std::ofstream filler(job_.Path("disk/filler"));
  std::string_view rest = std::string_view(flights).substr(flights.size() / 2);
  while (!rest.empty() && !process.EndsWithin(std::chrono::milliseconds(2))) {
    filler.clear();
    filler << std::string(1 << 20, 'x') << std::flush;
    constexpr std::size_t kPieceBytes = 1 << 14;
    process.Write(rest.substr(0, kPieceBytes));
    rest.remove_prefix(std::min(rest.size(), kPieceBytes));
  }
  const ProcessResult full = process.Wait();
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, AllOf(HasSubstr(job_.Path("disk/state")),
                              HasSubstr("No space left on device"),
                              HasSubstr("free some space")));

  fs::remove(job_.Path("disk/filler"));
  disk.Resize("100m");
  const ProcessResult result = job_.Run(flights);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(job_.Parts() == undisturbed_.Parts());
}

TEST_P(BadDiskTest, IsReadOnlyForTheState) {
  SmallDisk disk(job_.Path("disk"), "10m");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount: " << disk.why_not();
  disk.MakeReadOnly();
  job_.flags().more = {"--state-dir=" + job_.Path("disk/state")};
  const ProcessResult result = job_.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(job_.Path("disk/state")),
                    HasSubstr("Read-only file system"),
                    HasSubstr("choose a directory that can be written")));
  EXPECT_FALSE(fs::exists(job_.output_path()));
}

TEST_P(BadDiskTest, HasBecomeReadOnly) {
  SmallDisk disk(job_.Path("disk"), "10m");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount: " << disk.why_not();
  job_.flags().more = {"--state-dir=" + job_.Path("disk/state")};
  ExpectGoodEnd();
  disk.MakeReadOnly();
  const ProcessResult result = job_.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr(job_.Path("disk/state")),
                                HasSubstr("Read-only file system")));
  EXPECT_TRUE(job_.Parts() == undisturbed_.Parts());
}

TEST_P(BadDiskTest, IsReadOnlyForTheOutput) {
  SmallDisk disk(job_.Path("disk"), "10m");
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount: " << disk.why_not();
  disk.MakeReadOnly();
  const std::string output = job_.Path("disk/reports");
  job_.flags().more = {"--output=" + output};
  const ProcessResult result = job_.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(output), HasSubstr("Read-only file system")));
  EXPECT_FALSE(fs::exists(job_.state_path()));
}

// Needs no right to mount anything.
TEST(BadDisk, IsFullFromTheFirstByte) {
  DemoJob job(DemoFlags{.more = {"--output=/dev/full"}});
  const ProcessResult full = job.Run();
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, AllOf(HasSubstr("'/dev/full'"),
                              HasSubstr("No space left on device"),
                              HasSubstr("free some space and start again")));
  job.flags().more.clear();
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Lines(job.Parts()[0]).size(), 20'000u);
}

}  // namespace
}  // namespace mayfly::e2e
