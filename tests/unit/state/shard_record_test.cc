#include "state/shard_record.h"

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"

namespace mayfly::state_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

v1::ShardRecord Record() {
  v1::ShardRecord record;
  record.set_format_version(kFormatVersion);
  record.set_backend(v1::BACKEND_KIND_ROCKSDB);
  record.add_states()->set_name("streak");
  return record;
}

class ShardRecordTest : public ::testing::Test {
 protected:
  absl::StatusOr<bool> Read(v1::BackendKind backend) {
    return ReadShardRecord(directory_.path(), backend, read_);
  }
  void WriteBytes(const std::string& bytes) {
    ASSERT_THAT(WriteFileAtomically(path_, bytes, false), IsOk());
  }

  const TempDirectory directory_;
  const std::string path_ = directory_.Path("MANIFEST.mayfly");
  v1::ShardRecord read_;
};

TEST_F(ShardRecordTest, AFreshDirectoryGetsAFreshRecord) {
  EXPECT_THAT(Read(v1::BACKEND_KIND_HEAP), IsOkAndHolds(false));
  EXPECT_EQ(read_.format_version(), 1u);
  EXPECT_EQ(read_.backend(), v1::BACKEND_KIND_HEAP);
  EXPECT_EQ(read_.states_size(), 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ShardRecordTest, IsReadAsItWasWritten) {
  for (const bool sync : {false, true}) {
    ASSERT_THAT(WriteShardRecord(directory_.path(), Record(), sync), IsOk());
    EXPECT_THAT(Read(v1::BACKEND_KIND_ROCKSDB), IsOkAndHolds(true));
    EXPECT_EQ(read_.SerializeAsString(), Record().SerializeAsString());
  }
}

TEST_F(ShardRecordTest, AnotherBackendIsRefused) {
  ASSERT_THAT(WriteShardRecord(directory_.path(), Record(), false), IsOk());
  EXPECT_THAT(Read(v1::BACKEND_KIND_HEAP),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(path_),
                             HasSubstr("written by the rocksdb backend and is "
                                       "opened with the heap one"))));
}

TEST_F(ShardRecordTest, ANewerVersionIsRefused) {
  v1::ShardRecord record = Record();
  record.set_format_version(kFormatVersion + 1);
  ASSERT_THAT(WriteShardRecord(directory_.path(), record, false), IsOk());
  EXPECT_THAT(Read(v1::BACKEND_KIND_ROCKSDB),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(path_),
                             HasSubstr("newer version of Mayfly (format 2, "
                                       "this one reads up to 1)"))));
}

TEST_F(ShardRecordTest, GarbageIsDataLoss) {
  WriteBytes("this is no record");
  EXPECT_THAT(Read(v1::BACKEND_KIND_ROCKSDB),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path_), HasSubstr("does not begin"))));
}

// Zero bytes are what a crashed machine may leave, and a protobuf message.
TEST_F(ShardRecordTest, AnEmptyFileIsDataLoss) {
  WriteBytes("");
  EXPECT_THAT(Read(v1::BACKEND_KIND_ROCKSDB),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)));
}

TEST_F(ShardRecordTest, ADirectoryInItsPlaceIsNamed) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(Read(v1::BACKEND_KIND_ROCKSDB),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path_)));
}

TEST_F(ShardRecordTest, MissingSaysWhatToDo) {
  EXPECT_THAT(MissingShardRecord(directory_.path()),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path_ + "' is missing"),
                             HasSubstr("restore it from a copy"))));
}

}  // namespace
}  // namespace mayfly::state_internal
