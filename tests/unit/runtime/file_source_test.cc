#include <sys/stat.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/runtime/source.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/runtime/test_files.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FileSourceTest : public ::testing::Test {
 protected:
  std::string path() const { return directory_.Path("in.ndjson"); }

  // What a new source gives from a position on; "!" for the end.
  std::string FirstLineFrom(const SourcePosition& position) const {
    const std::unique_ptr<Source> source = MakeFileSource(path());
    EXPECT_THAT(source->Open(), IsOk());
    EXPECT_THAT(source->SeekTo(position), IsOk());
    SourceLine line;
    const absl::StatusOr<SourceRead> read = source->Next(line);
    EXPECT_THAT(read, IsOk());
    if (*read == SourceRead::kEnd) return "!";
    return std::to_string(line.number) + ":" + std::string(line.text);
  }

  TempDirectory directory_;
};

TEST_F(FileSourceTest, ReadsAFile) {
  WriteFile(path(), "a\nb\n");
  const std::unique_ptr<Source> source = MakeFileSource(path());
  EXPECT_THAT(source->Open(), IsOk());
  EXPECT_THAT(source->SeekTo({}), IsOk());
  EXPECT_EQ(source->name(), path());
  EXPECT_EQ(source->total_bytes(), 4u);
  SourceLine line;
  EXPECT_THAT(source->Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_THAT(source->Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.text, "b");
  EXPECT_THAT(source->Next(line), IsOkAndHolds(SourceRead::kEnd));
}

TEST_F(FileSourceTest, AMissingFileIsNotFound) {
  EXPECT_THAT(MakeFileSource(path())->Open(),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr(path()), HasSubstr("standard input"))));
}

TEST_F(FileSourceTest, ADirectoryIsNoInput) {
  EXPECT_THAT(MakeFileSource(directory_.path())->Open(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(directory_.path()),
                             HasSubstr("is a directory; give a file"))));
}

TEST_F(FileSourceTest, AFileWithoutTheRightToReadItIsDenied) {
  WriteFile(path(), "a\n");
  ASSERT_EQ(::chmod(path().c_str(), 0), 0);
  const WithoutRoot without_root;
  EXPECT_THAT(MakeFileSource(path())->Open(),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr(path()), HasSubstr("right to read"))));
}

TEST_F(FileSourceTest, TheLineLimitHasARange) {
  WriteFile(path(), "a\n");
  EXPECT_THAT(MakeFileSource(path(), {.line_bytes_max = 0})->Open(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("line_bytes_max is 0")));
}

TEST_F(FileSourceTest, StartsWhereItIsTold) {
  WriteFile(path(), "a\nb\nc\n");
  EXPECT_EQ(FirstLineFrom({.bytes = 4, .lines = 2}), "3:c");
  EXPECT_EQ(FirstLineFrom({.bytes = 6, .lines = 3}), "!");
}

TEST_F(FileSourceTest, GoesOnAfterALastLineThatHadNoNewline) {
  WriteFile(path(), "a\nb");
  EXPECT_EQ(FirstLineFrom({.bytes = 3, .lines = 2}), "!");
  AppendToFile(path(), "\nc\n");
  EXPECT_EQ(FirstLineFrom({.bytes = 3, .lines = 2}), "3:c");
}

TEST_F(FileSourceTest, AnInputShorterThanThePositionIsRefused) {
  WriteFile(path(), "a\nb\n");
  const std::unique_ptr<Source> source = MakeFileSource(path());
  EXPECT_THAT(source->Open(), IsOk());
  EXPECT_THAT(source->SeekTo({.bytes = 5, .lines = 3}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("has 4 bytes"), HasSubstr("had read 5"),
                             HasSubstr("new state directory"))));
}

TEST_F(FileSourceTest, APipeIsReadPastWhatIsDone) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  std::thread writer([this] { WriteFile(path(), "a\nb\nc\n"); });
  const std::unique_ptr<Source> source = MakeFileSource(path());
  EXPECT_THAT(source->Open(), IsOk());
  EXPECT_EQ(source->total_bytes(), std::nullopt);
  EXPECT_THAT(source->SeekTo({.bytes = 2, .lines = 1}), IsOk());
  SourceLine line;
  EXPECT_THAT(source->Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.text, "b");
  EXPECT_EQ(line.number, 2u);
  writer.join();
}

TEST_F(FileSourceTest, APipeThatEndsBeforeThePositionIsRefused) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  std::thread writer([this] { WriteFile(path(), "a\n"); });
  const std::unique_ptr<Source> source = MakeFileSource(path());
  EXPECT_THAT(source->Open(), IsOk());
  EXPECT_THAT(source->SeekTo({.bytes = 3, .lines = 2}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("has 2 bytes")));
  writer.join();
}

}  // namespace
}  // namespace mayfly
