#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/runtime/sink.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "runtime/output_file.h"
#include "tests/unit/runtime/test_files.h"

namespace mayfly::runtime_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OutputTest : public ::testing::Test {
 protected:
  std::string path() const { return directory_.Path("out"); }

  TempDirectory directory_;
};

TEST_F(OutputTest, NumbersHaveFiveDigits) {
  EXPECT_EQ(Numbered("part-", 0), "part-00000");
  EXPECT_EQ(Numbered("part-", 12), "part-00012");
  EXPECT_EQ(Numbered("part-", 123456), "part-123456");
}

TEST_F(OutputTest, WritesLinesAndKnowsTheirLength) {
  const auto file = OutputFile::Open(path(), std::nullopt);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("ab"), IsOk());
  EXPECT_THAT((*file)->Write(""), IsOk());
  EXPECT_THAT((*file)->Flush(Durability::kProcess), IsOkAndHolds(4u));
  EXPECT_EQ(ReadWholeFile(path()), "ab\n\n");
  EXPECT_THAT((*file)->Write("c"), IsOk());
  EXPECT_THAT((*file)->Flush(Durability::kMachine), IsOkAndHolds(6u));
  EXPECT_EQ(ReadWholeFile(path()), "ab\n\nc\n");
}

TEST_F(OutputTest, AFreshStartReplacesWhatIsThere) {
  WriteFile(path(), "of an earlier job\n");
  const auto file = OutputFile::Open(path(), std::nullopt);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(ReadWholeFile(path()), "");
}

TEST_F(OutputTest, ARestartCutsBackToTheCommit) {
  WriteFile(path(), "a\nb\nnot committed\n");
  const auto file = OutputFile::Open(path(), 4);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(ReadWholeFile(path()), "a\nb\n");
  EXPECT_THAT((*file)->Write("c"), IsOk());
  EXPECT_THAT((*file)->Flush(Durability::kProcess), IsOkAndHolds(6u));
  EXPECT_EQ(ReadWholeFile(path()), "a\nb\nc\n");
}

TEST_F(OutputTest, AnOutputShorterThanTheCommitIsDataLoss) {
  WriteFile(path(), "a\n");
  EXPECT_THAT(OutputFile::Open(path(), 4),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path()), HasSubstr("has 2 bytes"),
                             HasSubstr("4 were committed"),
                             HasSubstr("new state directory"))));
  EXPECT_EQ(ReadWholeFile(path()), "a\n");
}

TEST_F(OutputTest, AnOutputThatIsGoneIsDataLoss) {
  EXPECT_THAT(OutputFile::Open(path(), 4),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path())));
}

TEST_F(OutputTest, AFileIsOfOneJobAtATime) {
  {
    const auto file = OutputFile::Open(path(), std::nullopt);
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT((*file)->Write("a"), IsOk());
    EXPECT_THAT((*file)->Flush(Durability::kProcess), IsOk());
    EXPECT_THAT(OutputFile::Open(path(), std::nullopt),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr(path()), HasSubstr("in use"))));
    EXPECT_EQ(ReadWholeFile(path()), "a\n");
  }
  EXPECT_THAT(OutputFile::Open(path(), 2), IsOk());
}

TEST_F(OutputTest, LongOutputDoesNotWaitForTheCommit) {
  const auto file = OutputFile::Open(path(), std::nullopt);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write(std::string(1 << 20, 'x')), IsOk());
  EXPECT_EQ(std::filesystem::file_size(path()), (1u << 20) + 1);
}

TEST_F(OutputTest, AFullDiskIsNamed) {
  const auto file = OutputFile::Open("/dev/full", std::nullopt);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("a"), IsOk());
  EXPECT_THAT((*file)->Flush(Durability::kProcess),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("/dev/full"), HasSubstr("free"))));
}

TEST_F(OutputTest, ADeviceIsNotCut) {
  const auto file = OutputFile::Open("/dev/null", 1000);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("a"), IsOk());
  EXPECT_THAT((*file)->Flush(Durability::kMachine), IsOkAndHolds(1002u));
}

TEST_F(OutputTest, SharersWriteWholeLines) {
  const int fd = ::open(path().c_str(), O_WRONLY | O_CREAT, 0600);
  Mutex mutex;
  const auto one = OutputFile::Share(fd, "standard output", mutex, 10);
  const auto other =
      OutputFile::Share(fd, "standard output", mutex, std::nullopt);
  EXPECT_THAT(one->Write("a"), IsOk());
  EXPECT_THAT(other->Write("b"), IsOk());
  EXPECT_THAT(one->Write("c"), IsOk());
  EXPECT_THAT(other->Flush(Durability::kProcess), IsOkAndHolds(2u));
  EXPECT_THAT(one->Flush(Durability::kProcess), IsOkAndHolds(14u));
  EXPECT_EQ(ReadWholeFile(path()), "b\na\nc\n");
  ::close(fd);
}

TEST_F(OutputTest, OneShardWritesAFile) {
  const auto sink = MakeFileSink(path());
  EXPECT_THAT(sink->Check(1), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path()));
  const auto writer = sink->OpenShard(0, 1, std::nullopt);
  ASSERT_THAT(writer, IsOk());
  EXPECT_EQ((*writer)->name(), path());
}

TEST_F(OutputTest, SeveralShardsWritePartsInADirectory) {
  const auto sink = MakeFileSink(path());
  EXPECT_THAT(sink->Check(2), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path()));
  const auto writer = sink->OpenShard(1, 2, std::nullopt);
  ASSERT_THAT(writer, IsOk());
  EXPECT_EQ((*writer)->name(), path() + "/part-00001");
  EXPECT_THAT(MakeFileSink(path())->Check(2), IsOk());
}

TEST_F(OutputTest, ALookSaysWhatIsThere) {
  const auto sink = MakeFileSink(path());
  auto found = sink->Look(0, 1);
  ASSERT_THAT(found, IsOk());
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->name, path());
  EXPECT_EQ((*found)->bytes, 0u);
  EXPECT_FALSE(std::filesystem::exists(path()));
  WriteFile(path(), "abc\n");
  found = sink->Look(0, 1);
  ASSERT_THAT(found, IsOk());
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->bytes, 4u);

  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  WriteFile(path() + "/part-00001", "ab");
  found = sink->Look(1, 2);
  ASSERT_THAT(found, IsOk());
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->name, path() + "/part-00001");
  EXPECT_EQ((*found)->bytes, 2u);
}

TEST_F(OutputTest, ALookAtWhatCannotBeCutSaysNothing) {
  for (const char* name : {"-", "/dev/null"}) {
    const auto found = MakeFileSink(name)->Look(0, 1);
    ASSERT_THAT(found, IsOk());
    EXPECT_FALSE(*found);
  }
}

TEST_F(OutputTest, OneShardRefusesADirectory) {
  EXPECT_THAT(MakeFileSink(directory_.path())->Check(1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(directory_.path()),
                             HasSubstr("is a directory, and one shard"))));
}

TEST_F(OutputTest, SeveralShardsRefuseAFile) {
  WriteFile(path(), "");
  EXPECT_THAT(
      MakeFileSink(path())->Check(3),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr(path()), HasSubstr("is a file, and 3 shards"))));
}

TEST_F(OutputTest, PartsOfAJobWithMoreShardsAreRefused) {
  std::filesystem::create_directory(path());
  WriteFile(path() + "/part-00001", "a\n");
  WriteFile(path() + "/README", "");
  EXPECT_THAT(MakeFileSink(path())->Check(2), IsOk());
  WriteFile(path() + "/part-00002", "a\n");
  EXPECT_THAT(MakeFileSink(path())->Check(2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("holds part-00002, of a job"),
                             HasSubstr("move it away"))));
  for (int part = 3; part < 12; ++part) {
    WriteFile(path() + "/" + Numbered("part-", part), "");
  }
  EXPECT_THAT(MakeFileSink(path())->Check(2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("part-00002, part-00003, "),
                             HasSubstr("part-00009 and 2 more, of a job"),
                             HasSubstr("move them away"))));
}

TEST_F(OutputTest, ADirectoryThatIsNotThereIsNamed) {
  EXPECT_THAT(MakeFileSink(directory_.Path("no/out"))->Check(1),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("there is no directory '" +
                                 directory_.Path("no") + "'")));
}

TEST_F(OutputTest, WithoutTheRightToWriteNothingStarts) {
  WriteFile(path(), "");
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0555), 0);
  const WithoutRoot without_root;
  EXPECT_THAT(MakeFileSink(path())->Check(1),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(path())));
  EXPECT_THAT(MakeFileSink(directory_.Path("new"))->Check(1),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("new")));
}

}  // namespace
}  // namespace mayfly::runtime_internal
