// What the demo job writes for 20,000 real flights: known sums on each backend
// and for any number of shards, and every line as a model of a few lines has
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

struct Totals {
  int lines = 0;
  std::int64_t streak = 0;
  std::int64_t recent = 0;
  std::int64_t destinations = 0;
  std::int64_t streak_max = 0;
  std::int64_t recent_max = 0;
  int first_of_a_streak = 0;
};

Totals TotalsOf(const std::vector<std::string>& parts) {
  Totals totals;
  for (const std::string& part : parts) {
    for (const std::string& line : Lines(part)) {
      const json report = json::parse(line);
      const auto streak = report.at("streak").get<std::int64_t>();
      const auto recent = report.at("recent").get<std::int64_t>();
      ++totals.lines;
      totals.streak += streak;
      totals.recent += recent;
      totals.destinations += report.at("destinations").get<std::int64_t>();
      totals.streak_max = std::max(totals.streak_max, streak);
      totals.recent_max = std::max(totals.recent_max, recent);
      totals.first_of_a_streak += streak == 1 ? 1 : 0;
    }
  }
  return totals;
}

std::vector<std::string> Sorted(const std::vector<std::string>& parts) {
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    for (std::string& line : Lines(part)) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class OutputTest : public ::testing::TestWithParam<DemoFlags> {
 protected:
  Totals RunFor(const std::string& ttl) {
    DemoJob job(GetParam());
    job.flags().ttl = ttl;
    const ProcessResult result = job.Run();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("records 20,000 in "));
    return TotalsOf(job.Parts());
  }
};

TEST_P(OutputTest, HasTheKnownSumsForThreeHours) {
  const Totals totals = RunFor("3h");
  EXPECT_EQ(totals.lines, 20'000);
  EXPECT_EQ(totals.streak, 45'424);
  EXPECT_EQ(totals.recent, 34'901);
  EXPECT_EQ(totals.destinations, 34'442);
  EXPECT_EQ(totals.streak_max, 21);
  EXPECT_EQ(totals.recent_max, 10);
  EXPECT_EQ(totals.first_of_a_streak, 11'139);
}

TEST_P(OutputTest, HasTheKnownSumsForHalfAnHour) {
  const Totals totals = RunFor("30m");
  EXPECT_EQ(totals.lines, 20'000);
  EXPECT_EQ(totals.streak, 23'241);
  EXPECT_EQ(totals.recent, 22'998);
  EXPECT_EQ(totals.destinations, 22'954);
}

TEST_P(OutputTest, HasTheKnownSumsForSixHours) {
  const Totals totals = RunFor("6h");
  EXPECT_EQ(totals.lines, 20'000);
  EXPECT_EQ(totals.streak, 60'809);
  EXPECT_EQ(totals.recent, 46'826);
  EXPECT_EQ(totals.destinations, 45'617);
}

INSTANTIATE_TEST_SUITE_P(
    All, OutputTest,
    ::testing::Values(DemoFlags{"heap", 1}, DemoFlags{"heap", 2},
                      DemoFlags{"heap", 7}, DemoFlags{"rocksdb", 1},
                      DemoFlags{"rocksdb", 2}, DemoFlags{"rocksdb", 7}),
    ::testing::PrintToStringParamName());

// What the job should write for each flight, line by line, with nothing of
// Mayfly in it.
std::vector<std::string> ModelLines(std::int64_t ttl_ms) {
  struct Airport {
    std::int64_t streak = 0;
    std::int64_t last_ms = 0;
    std::vector<std::pair<std::int64_t, int>> recent;
    std::map<std::string, std::int64_t> destinations;
  };
  std::map<std::string, Airport> airports;
  std::vector<std::string> lines;
  std::int64_t now_ms = 0;
  for (const std::string& line : Lines(ReadFileOrDie(FlightsPath()))) {
    const json flight = json::parse(line);
    const auto time = flight.at("time").get<std::string>();
    absl::Time parsed;
    EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, time, &parsed, nullptr));
    now_ms = std::max(now_ms, absl::ToUnixMillis(parsed));
    const auto expired = [&](std::int64_t ms) { return ms + ttl_ms <= now_ms; };

    const auto origin = flight.at("origin").get<std::string>();
    Airport& airport = airports[origin];
    airport.streak = expired(airport.last_ms) ? 1 : airport.streak + 1;
    airport.last_ms = now_ms;
    airport.recent.emplace_back(now_ms, flight.at("delay_minutes").get<int>());
    std::erase_if(airport.recent,
                  [&](const auto& entry) { return expired(entry.first); });
    airport.destinations[flight.at("destination").get<std::string>()] = now_ms;
    std::erase_if(airport.destinations,
                  [&](const auto& entry) { return expired(entry.second); });

    double sum = 0;
    for (const auto& [ms, delay] : airport.recent) sum += delay;
    char mean[64];
    std::snprintf(mean, sizeof(mean), "%.3f",
                  sum / static_cast<double>(airport.recent.size()));
    std::string shown = mean;
    while (shown.ends_with("0") && !shown.ends_with(".0")) shown.pop_back();
    lines.push_back("{\"time\":\"" + time + "\",\"origin\":\"" + origin +
                    "\",\"streak\":" + std::to_string(airport.streak) +
                    ",\"recent\":" + std::to_string(airport.recent.size()) +
                    ",\"mean_delay\":" + shown + ",\"destinations\":" +
                    std::to_string(airport.destinations.size()) + "}");
  }
  return lines;
}

TEST(OutputModel, AgreesLineByLine) {
  const std::vector<std::string> model = ModelLines(3 * 3600 * 1000);
  ASSERT_EQ(model.front(),
            R"({"time":"2001-01-01T00:47:00Z","origin":"DTW","streak":1,)"
            R"("recent":1,"mean_delay":66.0,"destinations":1})");
  for (const char* backend : {"heap", "rocksdb"}) {
    DemoJob job(DemoFlags{backend});
    ASSERT_EQ(job.Run().exit_code, 0);
    EXPECT_EQ(Lines(job.Parts()[0]), model) << backend;
  }
}

TEST(OutputModel, AgreesOnTheLinesOfSeveralShards) {
  std::vector<std::string> model = ModelLines(3 * 3600 * 1000);
  std::sort(model.begin(), model.end());
  DemoJob job(DemoFlags{"rocksdb", 7});
  ASSERT_EQ(job.Run().exit_code, 0);
  EXPECT_EQ(Sorted(job.Parts()), model);
  for (const std::string& part : job.Parts()) EXPECT_NE(part, "");
}

// Each read renews all that it sees: as long as departures follow one another
// within the TTL, none of them expires.
TEST(OutputModel, ReadsRenewIfToldTo) {
  for (const char* backend : {"heap", "rocksdb"}) {
    DemoJob job(DemoFlags{.backend = backend, .more = {"--update=read"}});
    ASSERT_EQ(job.Run().exit_code, 0);
    const Totals totals = TotalsOf(job.Parts());
    EXPECT_EQ(totals.streak, 45'424) << backend;
    EXPECT_EQ(totals.recent, totals.streak) << backend;
  }
}

// On the clock of the machine three months of flights take no time at all.
TEST(OutputModel, NothingExpiresInProcessingTime) {
  DemoJob job(DemoFlags{.more = {"--time=processing"}});
  ASSERT_EQ(job.Run().exit_code, 0);
  DemoJob infinite(DemoFlags{.ttl = "infinite"});
  ASSERT_EQ(infinite.Run().exit_code, 0);
  EXPECT_EQ(job.Parts(), infinite.Parts());
  EXPECT_EQ(TotalsOf(job.Parts()).recent_max, 1'103);
}

}  // namespace
}  // namespace mayfly::e2e
