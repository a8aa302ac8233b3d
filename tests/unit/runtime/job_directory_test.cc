#include "runtime/job_directory.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/lineage.h"
#include "tests/unit/runtime/test_files.h"

namespace mayfly::runtime_internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
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

  // As a job opens it.
  absl::StatusOr<JobDirectory> Open(const JobBeginning& beginning = {}) const {
    const auto record = JobDirectory::Look(options_);
    if (!record.ok()) return record.status();
    return JobDirectory::Open(
        options_, *record ? std::nullopt : std::optional(beginning));
  }

  // Leaves a directory behind as a job that ended does.
  void Make(const JobBeginning& beginning = {}) const {
    auto directory = Open(beginning);
    ASSERT_THAT(directory, IsOk());
    ASSERT_THAT(directory->FinishBeginning(), IsOk());
  }

  v1::JobRecord Record() const {
    v1::JobRecord record;
    EXPECT_THAT(state_internal::ReadRecordFile(record_path(), record), IsOk());
    return record;
  }

  TempDirectory directory_;
  JobOptions options_;
};

TEST_F(JobDirectoryTest, SaysWhatItIsOf) {
  JobBeginning beginning{.retired_output_bytes = {7}};
  beginning.lineage.set_random(42);
  auto opened = Open(beginning);
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->ShardDirectory(1),
            options_.state_directory + "/shard-00001");
  EXPECT_TRUE(opened->is_beginning());
  EXPECT_TRUE(Record().beginning());
  ASSERT_THAT(opened->FinishBeginning(), IsOk());
  EXPECT_FALSE(opened->is_beginning());
  const v1::JobRecord record = Record();
  EXPECT_FALSE(record.beginning());
  EXPECT_EQ(record.name(), "delays");
  EXPECT_EQ(record.shards(), 2u);
  EXPECT_EQ(record.format_version(), 1u);
  EXPECT_EQ(record.lineage().random(), 42u);
  EXPECT_THAT(record.retired_output_bytes(), ElementsAre(7));
}

// What a crash leaves of it is not worth anything.
TEST_F(JobDirectoryTest, ABeginningThatWasBrokenOffIsBegunAnew) {
  ASSERT_THAT(Open(), IsOk());
  std::filesystem::create_directories(options_.state_directory +
                                      "/shard-00001");
  options_.shards = 1;
  ASSERT_THAT(Open(), IsOk());
  EXPECT_FALSE(
      std::filesystem::exists(options_.state_directory + "/shard-00001"));
  options_.name = "arrivals";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(JobDirectoryTest, ABeginningThatIsAbandonedLeavesNoJob) {
  auto opened = Open();
  ASSERT_THAT(opened, IsOk());
  std::filesystem::create_directories(opened->ShardDirectory(0));
  ASSERT_THAT(opened->AbandonBeginning(), IsOk());
  EXPECT_FALSE(std::filesystem::exists(record_path()));
  EXPECT_FALSE(std::filesystem::exists(opened->ShardDirectory(0)));
}

TEST_F(JobDirectoryTest, OneThatHasChangedSinceTheLookIsRefused) {
  Make();
  EXPECT_THAT(JobDirectory::Open(options_, JobBeginning{}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("changed by another process")));
  ASSERT_THAT(state_internal::RemoveAll(options_.state_directory), IsOk());
  EXPECT_THAT(JobDirectory::Open(options_, std::nullopt),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(JobDirectoryTest, OfAnEarlierVersionHasNoLineage) {
  Make();
  v1::JobRecord record = Record();
  record.clear_lineage();
  ASSERT_THAT(
      state_internal::WriteRecordFile(record_path(), record, /*sync=*/false),
      IsOk());
  const auto opened = Open();
  ASSERT_THAT(opened, IsOk());
  EXPECT_TRUE(IsSame(opened->lineage(), v1::Lineage()));
}

TEST_F(JobDirectoryTest, OpensAgainForTheSameJob) {
  Make();
  EXPECT_THAT(Open(), IsOk());
}

TEST_F(JobDirectoryTest, WithoutAPathNothingIsKept) {
  options_.state_directory = "";
  const auto opened = Open();
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->ShardDirectory(1), "");
}

TEST_F(JobDirectoryTest, IsOfOneProcessAtATime) {
  const auto held = Open();
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               AllOf(HasSubstr("state directory: '" +
                                               options_.state_directory + "'"),
                                     HasSubstr("in use"))));
}

TEST_F(JobDirectoryTest, RefusesAnotherNumberOfShards) {
  Make();
  options_.shards = 7;
  EXPECT_THAT(Open(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("written with 2 shards, and 7 are"),
                             HasSubstr("start with 2"),
                             HasSubstr("restore_from a savepoint"))));
}

TEST_F(JobDirectoryTest, RefusesAnotherJob) {
  Make();
  options_.name = "arrivals";
  EXPECT_THAT(Open(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'delays'"), HasSubstr("'arrivals'"))));
}

TEST_F(JobDirectoryTest, RefusesANewerVersion) {
  Make();
  v1::JobRecord record = Record();
  record.set_format_version(2);
  // What else a newer version says must not be judged by this one.
  record.set_shards(64);
  ASSERT_THAT(
      state_internal::WriteRecordFile(record_path(), record, /*sync=*/false),
      IsOk());
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               AllOf(HasSubstr("format version 2"),
                                     HasSubstr("newer program"))));
}

TEST_F(JobDirectoryTest, RefusesADamagedRecord) {
  Make();
  WriteFile(record_path(), "\xff\xff");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr(options_.state_directory)));
  WriteFile(record_path(), "");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(JobDirectoryTest, RefusesShardsOfNobody) {
  std::filesystem::create_directories(options_.state_directory +
                                      "/shard-00000");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("no JOB.mayfly")));
}

TEST_F(JobDirectoryTest, RefusesAFile) {
  WriteFile(options_.state_directory, "");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr(options_.state_directory)));
}

TEST_F(JobDirectoryTest, NeedsTheRightToWrite) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0555), 0);
  const WithoutRoot without_root;
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kPermissionDenied,
                               AllOf(HasSubstr(options_.state_directory),
                                     HasSubstr("that can be written"))));
}

}  // namespace
}  // namespace mayfly::runtime_internal
