#include "runtime/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/runtime/test_files.h"

namespace mayfly::runtime_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A pipe that a test feeds and a reader reads.
class LineReaderTest : public ::testing::Test {
 public:
  ~LineReaderTest() override {
    End();
    ::close(read_fd_);
  }

 protected:
  LineReaderTest() {
    int fds[2];
    EXPECT_EQ(::pipe(fds), 0);
    read_fd_ = fds[0];
    write_fd_ = fds[1];
    // Room for all that a test writes before it reads.
    EXPECT_GE(::fcntl(write_fd_, F_SETPIPE_SZ, 1 << 20), 1 << 20);
  }
  void Feed(std::string_view bytes) {
    EXPECT_EQ(::write(write_fd_, bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }

  void End() {
    if (write_fd_ >= 0) ::close(write_fd_);
    write_fd_ = -1;
  }

  LineReader Reader(std::size_t line_bytes_max = 100) const {
    return LineReader(read_fd_, "in", line_bytes_max);
  }

  // All lines up to the end: "number:text", or "number!" for malformed ones.
  static std::vector<std::string> All(LineReader& reader) {
    std::vector<std::string> lines;
    SourceLine line;
    while (true) {
      const absl::StatusOr<SourceRead> read = reader.Next(line);
      EXPECT_THAT(read, IsOk());
      if (!read.ok() || *read == SourceRead::kEnd) return lines;
      if (*read == SourceRead::kIdle) {
        ADD_FAILURE() << "idle before the end";
        return lines;
      }
      lines.push_back(*read == SourceRead::kLine
                          ? std::to_string(line.number) + ":" +
                                std::string(line.text)
                          : std::to_string(line.number) + "!");
    }
  }

  std::vector<std::string> AllOf(std::string_view bytes,
                                 std::size_t line_bytes_max = 100) {
    Feed(bytes);
    End();
    LineReader reader = Reader(line_bytes_max);
    return All(reader);
  }

  int read_fd_ = -1;
  int write_fd_ = -1;
};

TEST_F(LineReaderTest, CutsAtNewlines) {
  EXPECT_THAT(AllOf("a\nbc\n"), ElementsAre("1:a", "2:bc"));
}

TEST_F(LineReaderTest, EmptyInputHasNoLines) {
  EXPECT_THAT(AllOf(""), IsEmpty());
}

TEST_F(LineReaderTest, DropsOneCarriageReturnBeforeTheNewline) {
  EXPECT_THAT(AllOf("a\r\nb\r\r\nc\rd\r\n"),
              ElementsAre("1:a", "2:b\r", "3:c\rd"));
}

TEST_F(LineReaderTest, SkipsBlankLinesButCountsThem) {
  EXPECT_THAT(AllOf("\n\r\na\n\n\nb\n\n"), ElementsAre("3:a", "6:b"));
}

TEST_F(LineReaderTest, GivesALastLineWithoutNewline) {
  Feed("a\nb");
  End();
  LineReader reader = Reader();
  SourceLine line;
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_TRUE(line.terminated);
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.text, "b");
  EXPECT_FALSE(line.terminated);
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 3, .lines = 2}));
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kEnd));
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kEnd));
}

TEST_F(LineReaderTest, AfterALineWithoutNewlineComesTheEnd) {
  const TempDirectory directory;
  WriteFile(directory.Path("in"), "a");
  const int fd = ::open(directory.Path("in").c_str(), O_RDONLY);
  LineReader reader(fd, "in", 100);
  SourceLine line;
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  AppendToFile(directory.Path("in"), "bc\nd\n");
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kEnd));
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 1, .lines = 1}));
  ::close(fd);
}

TEST_F(LineReaderTest, KnowsWhereTheNextLineStarts) {
  Feed("a\r\n\nbcd\n\n");
  End();
  LineReader reader = Reader();
  SourceLine line;
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 3, .lines = 1}));
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 8, .lines = 3}));
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kEnd));
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 9, .lines = 4}));
}

TEST_F(LineReaderTest, TheLongestLineIsStillALine) {
  EXPECT_THAT(AllOf("12345\n12345\r\n123456\n12345", 5),
              ElementsAre("1:12345", "2:12345", "3!", "4:12345"));
}

TEST_F(LineReaderTest, ALineThatIsTooLongIsSkippedToItsEnd) {
  // Longer than what one read takes, so that its bytes have to be dropped.
  const std::string longer(600'000, 'x');
  Feed("a\n" + longer + "\nb\n" + longer.substr(0, 300'000));
  End();
  LineReader reader = Reader();
  SourceLine line;
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kMalformed));
  EXPECT_EQ(line.malformed, "the line is longer than 100 bytes");
  EXPECT_LT(line.text.size(), longer.size());  // It is not held as a whole.
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 600'003, .lines = 2}));
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.text, "b");
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kMalformed));
  EXPECT_FALSE(line.terminated);
  EXPECT_EQ(line.number, 4u);
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 900'005, .lines = 4}));
}

TEST_F(LineReaderTest, ZeroBytesAreBytes) {
  EXPECT_THAT(AllOf(std::string_view("a\0b\n", 4)),
              ElementsAre(std::string("1:a\0b", 5)));
}

TEST_F(LineReaderTest, IsIdleWhileNothingComes) {
  LineReader reader = Reader();
  SourceLine line;
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kIdle));
  Feed("a\nb");
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kIdle));
  Feed("c\n");
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.text, "bc");
  End();
  EXPECT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kEnd));
}

TEST_F(LineReaderTest, CountsFromWhereItStarts) {
  Feed("c\n");
  End();
  LineReader reader = Reader();
  reader.StartAt({.bytes = 10, .lines = 2}, /*inside_line=*/false);
  SourceLine line;
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kLine));
  EXPECT_EQ(line.number, 3u);
  EXPECT_EQ(line.end, (SourcePosition{.bytes = 12, .lines = 3}));
}

TEST_F(LineReaderTest, ANewlineThatCameLaterEndsTheLineBefore) {
  Feed("\nc\n");
  End();
  LineReader reader = Reader();
  reader.StartAt({.bytes = 10, .lines = 2}, /*inside_line=*/true);
  EXPECT_THAT(All(reader), ElementsAre("3:c"));
}

TEST_F(LineReaderTest, MoreOfALineThatWasProcessedIsMalformed) {
  Feed("more\nc\n");
  End();
  LineReader reader = Reader();
  reader.StartAt({.bytes = 10, .lines = 2}, /*inside_line=*/true);
  SourceLine line;
  ASSERT_THAT(reader.Next(line), IsOkAndHolds(SourceRead::kMalformed));
  EXPECT_EQ(line.number, 2u);
  EXPECT_THAT(line.malformed, HasSubstr("was processed"));
  EXPECT_THAT(All(reader), ElementsAre("3:c"));
}

TEST_F(LineReaderTest, SaysWhichInputCannotBeRead) {
  const int write_only = write_fd_;
  LineReader reader(write_only, "flights.ndjson", 100);
  ::close(read_fd_);  // The other end then polls as ready.
  SourceLine line;
  EXPECT_THAT(reader.Next(line), StatusIs(absl::StatusCode::kUnavailable,
                                          HasSubstr("flights.ndjson")));
  read_fd_ = ::open("/dev/null", O_RDONLY);
}

}  // namespace
}  // namespace mayfly::runtime_internal
