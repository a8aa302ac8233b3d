#include "runtime/job_directory.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/job.pb.h"
#include "tests/unit/runtime/test_files.h"

namespace mayfly::runtime_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class JobDirectoryTest : public ::testing::Test {
 protected:
  JobDirectoryTest() {
    options_.name = "delays";
    options_.state_directory = directory_.Path("state");
    options_.shards = 2;
  }

  std::string record_path() const {
    return options_.state_directory + "/JOB.mayfly";
  }

  // Leaves a directory behind as a job that ended does.
  void Make() { ASSERT_THAT(JobDirectory::Open(options_), IsOk()); }

  TempDirectory directory_;
  JobOptions options_;
};

TEST_F(JobDirectoryTest, SaysWhatItIsOf) {
  const auto opened = JobDirectory::Open(options_);
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->ShardDirectory(1),
            options_.state_directory + "/shard-00001");
  v1::JobRecord record;
  ASSERT_THAT(state_internal::ReadRecordFile(record_path(), record), IsOk());
  EXPECT_EQ(record.name(), "delays");
  EXPECT_EQ(record.shards(), 2u);
  EXPECT_EQ(record.format_version(), 1u);
}

TEST_F(JobDirectoryTest, OpensAgainForTheSameJob) {
  Make();
  EXPECT_THAT(JobDirectory::Open(options_), IsOk());
}

TEST_F(JobDirectoryTest, WithoutAPathNothingIsKept) {
  options_.state_directory = "";
  const auto opened = JobDirectory::Open(options_);
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->ShardDirectory(1), "");
}

TEST_F(JobDirectoryTest, IsOfOneProcessAtATime) {
  const auto held = JobDirectory::Open(options_);
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(options_.state_directory),
                             HasSubstr("in use"))));
}

TEST_F(JobDirectoryTest, RefusesAnotherNumberOfShards) {
  Make();
  options_.shards = 7;
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("written with 2 shards, and 7 are"),
                             HasSubstr("start with 2"))));
}

TEST_F(JobDirectoryTest, RefusesAnotherJob) {
  Make();
  options_.name = "arrivals";
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'delays'"), HasSubstr("'arrivals'"))));
}

TEST_F(JobDirectoryTest, RefusesANewerVersion) {
  Make();
  v1::JobRecord record;
  ASSERT_THAT(state_internal::ReadRecordFile(record_path(), record), IsOk());
  record.set_format_version(2);
  // What else a newer version says must not be judged by this one.
  record.set_shards(64);
  ASSERT_THAT(
      state_internal::WriteRecordFile(record_path(), record, /*sync=*/false),
      IsOk());
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("format version 2"),
                             HasSubstr("newer program"))));
}

TEST_F(JobDirectoryTest, RefusesADamagedRecord) {
  Make();
  WriteFile(record_path(), "\xff\xff");
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr(options_.state_directory)));
  WriteFile(record_path(), "");
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(JobDirectoryTest, RefusesShardsOfNobody) {
  std::filesystem::create_directories(options_.state_directory +
                                      "/shard-00000");
  EXPECT_THAT(
      JobDirectory::Open(options_),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no JOB.mayfly")));
}

TEST_F(JobDirectoryTest, RefusesAFile) {
  WriteFile(options_.state_directory, "");
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(options_.state_directory)));
}

TEST_F(JobDirectoryTest, NeedsTheRightToWrite) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0555), 0);
  const WithoutRoot without_root;
  EXPECT_THAT(JobDirectory::Open(options_),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr(options_.state_directory),
                             HasSubstr("that can be written"))));
}

}  // namespace
}  // namespace mayfly::runtime_internal
