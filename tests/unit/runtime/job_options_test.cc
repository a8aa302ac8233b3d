#include "mayfly/runtime/job_options.h"

#include <chrono>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

JobOptions Good() { return {.name = "delays.v2", .state_directory = "state"}; }

// What Validate() says when one field is changed.
absl::Status With(const std::function<void(JobOptions&)>& change) {
  JobOptions options = Good();
  change(options);
  return Validate(options);
}

::testing::Matcher<const absl::Status&> Names(const std::string& field,
                                              const std::string& value) {
  return StatusIs(
      absl::StatusCode::kInvalidArgument,
      AllOf(HasSubstr("JobOptions." + field + " is " + value + "; give")));
}

TEST(JobOptionsTest, TheDefaultsAreInRange) {
  EXPECT_THAT(Validate(Good()), IsOk());
}

TEST(JobOptionsTest, ANameIsAFileName) {
  const auto named = [](std::string name) {
    return With([&](JobOptions& options) { options.name = name; });
  };
  EXPECT_THAT(named(""), Names("name", "''"));
  EXPECT_THAT(named("a b"), Names("name", "'a b'"));
  EXPECT_THAT(named("a/b"), Names("name", "'a/b'"));
  EXPECT_THAT(named(std::string(100, 'a')), IsOk());
  EXPECT_THAT(named(std::string(101, 'a')),
              Names("name", "'" + std::string(101, 'a') + "'"));
}

TEST(JobOptionsTest, ShardsHaveARange) {
  const auto with = [](int shards) {
    return With([&](JobOptions& options) { options.shards = shards; });
  };
  EXPECT_THAT(with(0), Names("shards", "0"));
  EXPECT_THAT(with(-1), Names("shards", "-1"));
  EXPECT_THAT(with(1000), IsOk());
  EXPECT_THAT(with(1001), Names("shards", "1001"));
}

TEST(JobOptionsTest, OnlyTheHeapDoesWithoutADirectory) {
  const auto on = [](BackendKind kind) {
    return With([&](JobOptions& options) {
      options.state_directory = "";
      options.backend = kind;
    });
  };
  EXPECT_THAT(on(BackendKind::kHeap), IsOk());
  EXPECT_THAT(on(BackendKind::kRocksdb), Names("state_directory", "empty"));
}

TEST(JobOptionsTest, CommitsHaveARange) {
  const auto every = [](std::chrono::milliseconds interval) {
    return With(
        [&](JobOptions& options) { options.commit_interval = interval; });
  };
  EXPECT_THAT(every(std::chrono::milliseconds(0)),
              Names("commit_interval", "0 ms"));
  EXPECT_THAT(every(std::chrono::hours(24)), IsOk());
  EXPECT_THAT(every(std::chrono::hours(25)),
              Names("commit_interval", "90000000 ms"));
  EXPECT_THAT(With([](JobOptions& options) { options.commit_records_max = 0; }),
              Names("commit_records_max", "0"));
  EXPECT_THAT(
      With([](JobOptions& options) { options.statistics_visits_max = 0; }),
      Names("statistics_visits_max", "0"));
}

TEST(JobOptionsTest, CheckpointsHaveAPlaceAndARange) {
  const auto with = [](CheckpointOptions checkpoints) {
    return With([&](JobOptions& options) {
      options.savepoint_directory = "/savepoints";
      options.checkpoints = std::move(checkpoints);
    });
  };
  EXPECT_THAT(with({.directory = "/checkpoints"}), IsOk());
  EXPECT_THAT(with({.directory = "/c", .interval = std::nullopt}), IsOk());
  EXPECT_THAT(with({}), Names("checkpoints.directory", "empty"));
  EXPECT_THAT(with({.directory = "/savepoints"}),
              Names("savepoint_directory", "'/savepoints'"));
  EXPECT_THAT(
      with({.directory = "/c", .interval = std::chrono::milliseconds(0)}),
      Names("checkpoints.interval", "0 ms"));
  EXPECT_THAT(with({.directory = "/c", .keep = 0}),
              Names("checkpoints.keep", "0"));
}

TEST(JobOptionsTest, WithoutADirectoryThereIsNothingToCopyOrToRestore) {
  const auto with = [](const std::function<void(JobOptions&)>& change) {
    return With([&](JobOptions& options) {
      options.state_directory = "";
      options.backend = BackendKind::kHeap;
      change(options);
    });
  };
  EXPECT_THAT(with([](JobOptions& options) {
                options.checkpoints = CheckpointOptions{.directory = "/c"};
              }),
              Names("state_directory", "empty"));
  EXPECT_THAT(with([](JobOptions& options) { options.restore_from = "/c"; }),
              Names("state_directory", "empty"));
  EXPECT_THAT(
      with([](JobOptions& options) { options.savepoint_directory = "/s"; }),
      Names("state_directory", "empty"));
  EXPECT_THAT(
      With([](JobOptions& options) { options.savepoint_on_stop = true; }),
      Names("savepoint_directory", "empty"));
}

TEST(JobOptionsTest, ThoseOfRocksdbAndOfSweepsAreCheckedToo) {
  EXPECT_THAT(
      With([](JobOptions& options) { options.rocksdb.background_jobs = 0; }),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("RocksdbOptions.background_jobs is 0; give")));
  EXPECT_THAT(
      With([](JobOptions& options) { options.disk_sweeps->concurrency = 0; }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("concurrency")));
}

}  // namespace
}  // namespace mayfly
