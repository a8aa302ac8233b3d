#include "mayfly/compaction/sweep_plan.h"

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mayfly::compaction_test {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Under a TTL of 100 s: what was accessed at 100 s or before has expired.
constexpr PurgePoint kPurge{.rule = {.ttl_ms = 100'000}, .now_ms = 200'000};
constexpr TimestampMs kExpired = 90'000;
constexpr TimestampMs kLive = 150'000;

// A file of some entries of 100 bytes each.
FileExpiry File(std::string name, int level, std::string smallest,
                std::string largest, int expired, int live) {
  FileExpiry file{.name = std::move(name),
                  .level = level,
                  .bytes = static_cast<std::uint64_t>(expired + live) * 100,
                  .smallest_key = std::move(smallest),
                  .largest_key = std::move(largest),
                  .times = FileTimes()};
  for (int i = 0; i < expired; ++i) file.times->Add(kExpired, 100);
  for (int i = 0; i < live; ++i) file.times->Add(kLive, 100);
  return file;
}

auto Files(const std::vector<std::string>& names) {
  std::vector<::testing::Matcher<SweepFile>> files;
  for (const std::string& name : names) {
    files.push_back(Field(&SweepFile::name, name));
  }
  return Field(&SweepStep::files, ElementsAreArray(files));
}
auto Drops(const std::vector<std::string>& names) {
  return AllOf(Field(&SweepStep::action, SweepAction::kDrop), Files(names));
}
auto Compacts(const std::string& name, int output_level) {
  return AllOf(Field(&SweepStep::action, SweepAction::kCompact), Files({name}),
               Field(&SweepStep::output_level, output_level));
}

std::vector<SweepStep> Plan(const std::vector<FileExpiry>& files,
                            const SweepOptions& options = {}) {
  return PlanSweep(files, kPurge, options);
}

TEST(SweepPlanTest, LeavesWhatLives) {
  EXPECT_THAT(Plan({}), IsEmpty());
  EXPECT_THAT(Plan({File("a", 6, "a", "b", 0, 10)}), IsEmpty());
}

TEST(SweepPlanTest, DropsWhatHasExpiredWhole) {
  EXPECT_THAT(Plan({File("a", 6, "a", "b", 10, 0), File("b", 6, "c", "d", 9, 1),
                    File("c", 6, "e", "f", 10, 0)}),
              ElementsAre(Drops({"a"}), Drops({"c"}), Compacts("b", 6)));
}

// In whatever order they are listed.
TEST(SweepPlanTest, DropsNeighboursAtOnce) {
  const std::vector<SweepStep> steps =
      Plan({File("e", 6, "i", "j", 10, 0), File("b", 6, "c", "d", 20, 0),
            File("a", 6, "a", "b", 10, 0), File("c", 6, "e", "f", 0, 10),
            File("d", 6, "g", "h", 10, 0)});
  EXPECT_THAT(steps, ElementsAre(Drops({"a", "b"}), Drops({"d", "e"})));
  EXPECT_EQ(steps.front().bytes, 3000u);
  EXPECT_EQ(steps.front().files.back().smallest_key, "c");
  EXPECT_EQ(steps.front().files.back().largest_key, "d");
}

TEST(SweepPlanTest, DropsEachLevelByItself) {
  EXPECT_THAT(
      Plan({File("a", 5, "x", "z", 10, 0), File("b", 6, "c", "d", 10, 0)}),
      ElementsAre(Drops({"a"}), Drops({"b"})));
}

TEST(SweepPlanTest, DropsNothingOverWhatIsOlder) {
  // Live below: a version that went without a tombstone would uncover it.
  EXPECT_THAT(Plan({File("upper", 3, "b", "c", 10, 0),
                    File("lower", 6, "a", "b", 0, 10)}),
              ElementsAre(Compacts("upper", 6)));
  // Beside it, not below.
  EXPECT_THAT(Plan({File("upper", 3, "b", "c", 10, 0),
                    File("lower", 6, "d", "e", 0, 10)}),
              ElementsAre(Drops({"upper"})));
  // Above it.
  EXPECT_THAT(Plan({File("upper", 3, "a", "c", 0, 10),
                    File("lower", 6, "b", "b", 10, 0)}),
              ElementsAre(Drops({"lower"})));
}

TEST(SweepPlanTest, DropsFromBelow) {
  EXPECT_THAT(Plan({File("upper", 3, "a", "c", 10, 0),
                    File("lower", 6, "b", "d", 10, 0)}),
              ElementsAre(Drops({"lower"})));
}

// Dropping takes a sweep for each level. What has been expired for too long
// does not wait for that.
TEST(SweepPlanTest, WhatIsOverdueDoesNotWaitForWhatLiesBelow) {
  EXPECT_THAT(Plan({File("upper", 3, "a", "c", 10, 0),
                    File("lower", 6, "b", "d", 10, 0)},
                   {.staleness_max = milliseconds(10'000)}),
              ElementsAre(Drops({"lower"}), Compacts("upper", 6)));
}

TEST(SweepPlanTest, CompactsLevelZeroDownwards) {
  EXPECT_THAT(Plan({File("new", 0, "a", "c", 10, 0)}),
              ElementsAre(Compacts("new", 1)));
  EXPECT_THAT(
      Plan({File("new", 0, "a", "c", 10, 0), File("old", 6, "d", "e", 0, 10)}),
      ElementsAre(Compacts("new", 6)));
}

TEST(SweepPlanTest, AShareOfAllThatMustBeRewrittenDecides) {
  const SweepOptions half{.expired_share = 0.5};
  EXPECT_THAT(Plan({File("a", 6, "a", "b", 5, 5)}, half),
              ElementsAre(Compacts("a", 6)));
  EXPECT_THAT(Plan({File("a", 6, "a", "b", 4, 6)}, half), IsEmpty());
  // Little has expired of the two together.
  EXPECT_THAT(Plan({File("upper", 3, "a", "b", 10, 0),
                    File("lower", 6, "a", "b", 0, 90)},
                   half),
              IsEmpty());
}

TEST(SweepPlanTest, WhatHasBeenExpiredForTooLongDecidesToo) {
  // Expired since 190 s, that is for 10 s.
  const auto file = File("a", 6, "a", "b", 1, 99);
  EXPECT_THAT(Plan({file}, {.staleness_max = milliseconds(10'001)}), IsEmpty());
  EXPECT_THAT(Plan({file}, {.staleness_max = milliseconds(10'000)}),
              ElementsAre(Compacts("a", 6)));
}

TEST(SweepPlanTest, TheMostExpiredComesFirst) {
  EXPECT_THAT(
      Plan({File("60", 6, "a", "b", 60, 40), File("90", 6, "c", "d", 9, 1),
            File("70", 6, "e", "f", 70, 30)}),
      ElementsAre(Compacts("90", 6), Compacts("70", 6), Compacts("60", 6)));
}

TEST(SweepPlanTest, LeavesWhatIsBusyOrUnknown) {
  FileExpiry busy = File("busy", 6, "a", "b", 10, 0);
  busy.being_compacted = true;
  FileExpiry unknown = File("unknown", 6, "c", "d", 10, 0);
  unknown.times.reset();
  EXPECT_THAT(Plan({busy, unknown}), IsEmpty());
  // What is unknown may be old, and live.
  EXPECT_THAT(Plan({File("upper", 3, "c", "d", 10, 0), unknown}),
              ElementsAre(Compacts("upper", 6)));
}

TEST(SweepPlanTest, DropsNothingThatCannotBeRead) {
  FileExpiry file = File("a", 6, "a", "b", 10, 0);
  file.times->AddMalformed();
  EXPECT_THAT(Plan({file}), ElementsAre(Compacts("a", 6)));
  FileExpiry never = File("b", 6, "a", "b", 10, 0);
  never.times->Add(kNeverExpires, 100);
  EXPECT_THAT(Plan({never}), ElementsAre(Compacts("b", 6)));
}

TEST(SweepPlanTest, AnInfiniteTtlExpiresNothing) {
  EXPECT_THAT(PlanSweep({File("a", 6, "a", "b", 10, 10)},
                        PurgePoint{.rule = {}, .now_ms = kNeverExpires}, {}),
              IsEmpty());
}

TEST(SweepOptionsTest, AreChecked) {
  EXPECT_TRUE(Validate(SweepOptions()).ok());
  for (const double share : {0.0, -0.1, 1.1, std::nan("")}) {
    EXPECT_THAT(std::string(Validate({.expired_share = share}).message()),
                HasSubstr("expired_share"))
        << share;
  }
  EXPECT_THAT(
      std::string(Validate({.staleness_max = milliseconds(999)}).message()),
      HasSubstr("staleness_max must be at least 1000 ms, got 999"));
  EXPECT_THAT(std::string(Validate({.bytes_max = 0}).message()),
              HasSubstr("bytes_max"));
}

}  // namespace
}  // namespace mayfly::compaction_test
