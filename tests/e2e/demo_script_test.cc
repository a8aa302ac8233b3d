// What `./dev demo` shows, twice in a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::vector<std::string> RowsBelow(const std::string& text,
                                   const std::string& head) {
  std::vector<std::string> rows;
  bool below = false;
  for (const std::string& line : Lines(text)) {
    if (below && line.empty()) break;
    if (below) rows.push_back(line);
    if (line.find(head) != std::string::npos) below = true;
  }
  return rows;
}

// One test, for its runs share a directory.
TEST(DemoScript, ShowsTheWorstAirportsAndTheStateHeld) {
  for (int run = 0; run < 2; ++run) {
    const ProcessResult result = RunProcess({MAYFLY_DEMO_SCRIPT, MAYFLY_BIN});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("records 20,000"),
                                  HasSubstr("last day, 2001-03-31")));
    const std::vector<std::string> worst =
        RowsBelow(result.out, "mean delay, minutes");
    ASSERT_EQ(worst.size(), 10u) << result.out;
    EXPECT_THAT(worst[0], MatchesRegex(" +MEM +3 +109.2"));
    EXPECT_THAT(worst[9], MatchesRegex(" +OAK +3 +3.3"));

    // What is live is told from what is only still there.
    EXPECT_THAT(result.out, HasSubstr("At the end, state on rocksdb in 2 "
                                      "shards, with a TTL of 3h of event "
                                      "time"));
    const std::string figure = " +[0-9]+";
    EXPECT_THAT(result.out, ContainsRegex("recent +26" + figure + figure +
                                          figure + " +20000 +320660\n"));
    EXPECT_THAT(result.out, ContainsRegex("streak +20 +380" + figure + figure +
                                          " +220 +4180\n"));
  }

  // Flags go to the job.
  ProcessResult result = RunProcess(
      {MAYFLY_DEMO_SCRIPT, MAYFLY_BIN, "--backend=heap", "--shards=1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("records 20,000"));

  result = RunProcess({MAYFLY_DEMO_SCRIPT, MAYFLY_BIN, "--ttl=0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--ttl=0: "));

  result = RunProcess({MAYFLY_DEMO_SCRIPT, MAYFLY_BIN, "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("--ttl=3h"));
}

}  // namespace
}  // namespace mayfly::e2e
