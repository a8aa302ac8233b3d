// Input that is not there, or not what it should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kGoodLine[] =
    R"({"time":"2001-01-01T00:47:00Z","origin":"DTW","destination":"LAS",)"
    R"("delay_minutes":66,"distance_miles":1750})"
    "\n";

TEST(BadInput, IsMissing) {
  DemoJob job({});
  job.flags().input = job.Path("nowhere.ndjson");
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(job.flags().input), HasSubstr("No such file"),
                    HasSubstr("give a file that is there")));
  EXPECT_FALSE(std::filesystem::exists(job.state_path()));
  EXPECT_FALSE(std::filesystem::exists(job.output_path()));
}

TEST(BadInput, IsADirectory) {
  DemoJob job({});
  job.flags().input = job.Path("");
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(job.flags().input), HasSubstr("is a directory"),
                    HasSubstr("give a file")));
  EXPECT_FALSE(std::filesystem::exists(job.state_path()));
  EXPECT_FALSE(std::filesystem::exists(job.output_path()));
}

struct BadLine {
  std::string line;
  const char* says;
};

class BadLineTest : public ::testing::TestWithParam<BadLine> {};

// It is reported, counted and passed over.
TEST_P(BadLineTest, IsPassedOver) {
  DemoJob job({});
  job.flags().input = job.Path("flights.ndjson");
  WriteFileOrDie(job.flags().input,
                 kGoodLine + GetParam().line + "\n" + kGoodLine);
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(Lines(result.err),
              ElementsAre(AllOf(HasSubstr("flights.ndjson:2: "),
                                HasSubstr(GetParam().says))));
  EXPECT_THAT(result.out, HasSubstr("1 malformed line"));
  EXPECT_THAT(Lines(job.Parts()[0]), SizeIs(2));
}

// A flight whose field `name` is `value`, or which lacks it.
std::string With(const std::string& name, const std::string& value) {
  std::string line;
  for (const auto& [field, good] :
       std::vector<std::pair<std::string, std::string>>{
           {"time", R"("2001-01-01T00:47:00Z")"},
           {"origin", R"("DTW")"},
           {"destination", R"("LAS")"},
           {"delay_minutes", "66"}}) {
    const std::string& shown = field == name ? value : good;
    if (shown.empty()) continue;
    line += (line.empty() ? "{\"" : ",\"") + field + "\":" + shown;
  }
  return line + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Unreadable, BadLineTest,
    ::testing::Values(
        BadLine{"What is this?", "not JSON from byte 1 on"},
        BadLine{"{\"time\":\xff}", "not JSON from byte 9 on"},
        BadLine{R"({"time":"2001-01-01T00:47:00Z","ori)", "was it cut off?"},
        BadLine{"[1,2]", "is a JSON array, not an object"},
        BadLine{"null", "is a JSON null"},
        BadLine{With("", "") + With("", ""), "not JSON from byte"},
        BadLine{std::string(2 << 20, 'x'), "longer than 1048576 bytes"}));

INSTANTIATE_TEST_SUITE_P(
    WrongFields, BadLineTest,
    ::testing::Values(
        BadLine{With("time", ""), "field 'time' is missing"},
        BadLine{With("time", "978310020"),
                "'time' is of type number, and must be a string"},
        BadLine{With("time", "\"noon\""), "'time' must be a time such as"},
        BadLine{With("time", "\"2001-02-30T00:00:00Z\""), "must be a time"},
        BadLine{With("time", "\"infinite-future\""), "'time' must lie in"},
        BadLine{With("time", "\"1969-12-31T23:59:59Z\""), "'time' must lie in"},
        BadLine{With("time", "\"2100-01-01T00:00:00Z\""), "'time' must lie in"},
        BadLine{With("origin", ""), "field 'origin' is missing"},
        BadLine{With("origin", "7"), "'origin' is of type number"},
        BadLine{With("origin", "\"\""), "'origin' is empty"},
        BadLine{With("destination", "[]"),
                "is of type array, and must be a string"},
        BadLine{With("delay_minutes", ""), "'delay_minutes' is missing"},
        BadLine{With("delay_minutes", "\"66\""),
                "is of type string, and must be a whole number"},
        BadLine{With("delay_minutes", "6.5"), "is of type fraction"},
        BadLine{With("delay_minutes", "true"), "is of type boolean"},
        BadLine{With("delay_minutes", "2147483648"), "must lie between"},
        BadLine{With("delay_minutes", "-2147483649"), "must lie between"},
        BadLine{With("delay_minutes", "18446744073709551615"), "must lie"}));

// The last line is still being written: it is not lost, but read when it is
// whole.
TEST(BadInput, EndsWithinALine) {
  const std::string flights = ReadFileOrDie(FlightsPath());
  DemoJob job({});
  job.flags().input = job.Path("flights.ndjson");
  WriteFileOrDie(job.flags().input, flights.substr(0, flights.size() / 2));
  ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("was it cut off?"));

  WriteFileOrDie(job.flags().input, flights);
  result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("20,000 with earlier runs"),
                                HasSubstr("0 malformed lines")));
  DemoJob undisturbed({});
  ASSERT_EQ(undisturbed.Run().exit_code, 0);
  EXPECT_TRUE(job.Parts() == undisturbed.Parts());
}

TEST(BadInput, HasMoreMalformedLinesThanTheLimit) {
  DemoJob job({});
  job.flags().input = job.Path("flights.ndjson");
  WriteFileOrDie(job.flags().input,
                 std::string(kGoodLine) + "one\ntwo\nthree\n" + kGoodLine);
  job.flags().more = {"--max-malformed=2"};
  ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(
      Lines(result.err).back(),
      AllOf(StartsWith("airport_delays: "), HasSubstr("flights.ndjson:4: "),
            HasSubstr("is 2"), HasSubstr("raise the limit")));

  job.flags().more = {"--max-malformed=3"};
  result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("3 malformed lines"));
  EXPECT_THAT(Lines(job.Parts()[0]), SizeIs(2));
}

// Another file in place of the one that was read is not taken for it.
TEST(BadInput, IsShorterThanWhatWasRead) {
  DemoJob job({});
  job.flags().input = job.Path("flights.ndjson");
  WriteFileOrDie(job.flags().input, std::string(kGoodLine) + kGoodLine);
  ASSERT_EQ(job.Run().exit_code, 0);
  const std::vector<std::string> parts = job.Parts();
  WriteFileOrDie(job.flags().input, kGoodLine);
  const ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("flights.ndjson"),
                                HasSubstr("give the same input")));
  EXPECT_EQ(job.Parts(), parts);
}

// Fields that the job does not know, another order, another zone, and names
// that JSON has to escape are all right.
TEST(Input, MayLookDifferent) {
  DemoJob job({});
  job.flags().input = "-";
  const ProcessResult result = job.Run(
      "\r\n"
      R"({"delay_minutes":-3,"new":{"a":[null]},"destination":"LAS",)"
      R"("origin":"\"Ö\\","time":"2001-01-01T01:47:00.250+01:00"})");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_EQ(job.Parts()[0],
            R"({"time":"2001-01-01T00:47:00.25Z","origin":"\"Ö\\","streak":1,)"
            R"("recent":1,"mean_delay":-3.0,"destinations":1})"
            "\n");
}

}  // namespace
}  // namespace mayfly::e2e
