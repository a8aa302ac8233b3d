// A job restored from a checkpoint or a savepoint, on whatever backend and with
// whatever number of shards, writes in the end what an undisturbed one writes.
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/checkpoint_fixture.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

using Setting = std::tuple<BackendKind, int, BackendKind, int>;

std::string NameOf(BackendKind backend) {
  return backend == BackendKind::kHeap ? "Heap" : "Rocksdb";
}

class JobRestoreTest : public CheckpointFixture,
                       public ::testing::WithParamInterface<Setting> {
 protected:
  void Use(BackendKind backend, int shards) {
    options_.backend = backend;
    options_.shards = shards;
  }

  // From a copy of what the first job had written by its end.
  void RestoreAndFinish(const std::string& from, std::uint64_t line) {
    SCOPED_TRACE(from);
    LoseState();
    fs::remove_all(output());
    fs::copy(first_output_, output(), fs::copy_options::recursive);
    log_.clear();
    const auto [backend_before, shards_before, backend, shards] = GetParam();
    Use(backend, shards);
    const bool same_form = (shards == 1) == (shards_before == 1);
    options_.restore_from = from;
    const absl::StatusOr<JobSummary> summary =
        RunJob({.sink = MakeFileSink(same_form ? output() : other_output_)});
    ASSERT_THAT(summary, IsOk());
    EXPECT_TRUE(summary->complete);
    EXPECT_EQ(summary->records, lines_.size());
    EXPECT_EQ(summary->input_lines, lines_.size());
    EXPECT_EQ(summary->records_in_this_run, lines_.size() - line);
    EXPECT_TRUE(Logged("is restored from " + from));
    if (same_form) {
      EXPECT_EQ(SortedOutput(), SortedExpected());
    } else {
      ExpectRestIn(other_output_, summary->records_in_this_run);
    }
    if (shards == shards_before) ExpectOutputFor(lines_);
  }

  // What comes after the checkpoint, and nothing else.
  void ExpectRestIn(const std::string& path, std::uint64_t records) {
    std::vector<std::string> rest = ExpectedVisits(lines_, 1).front();
    rest.erase(rest.begin(), rest.end() - static_cast<std::ptrdiff_t>(records));
    std::ranges::sort(rest);
    std::vector<std::string> written = LinesOf(path);
    std::ranges::sort(written);
    EXPECT_EQ(written, rest);
    fs::remove_all(path);
  }

  const std::string first_output_ = directory_.Path("first");
  const std::string other_output_ = directory_.Path("other");
};

TEST_P(JobRestoreTest, WritesWhatAnUndisturbedOneWrites) {
  const auto [backend, shards, backend_after, shards_after] = GetParam();
  Use(backend, shards);
  const std::set<std::uint64_t> captured_after = {0, 33, 271};
  ASSERT_THAT(RunWithCheckpointsAfter(captured_after), IsOk());
  fs::rename(output(), first_output_);
  const std::string checkpoints = options_.checkpoints->directory;
  options_.checkpoints = std::nullopt;
  const std::string savepoints = options_.savepoint_directory;
  options_.savepoint_directory = "";
  int number = 0;
  for (const std::uint64_t line : captured_after) {
    ++number;
    RestoreAndFinish(absl::StrCat(checkpoints, "/checkpoint-0000", number),
                     line);
    RestoreAndFinish(absl::StrCat(savepoints, "/savepoint-0000", number), line);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, JobRestoreTest,
    ::testing::Combine(
        ::testing::Values(BackendKind::kHeap, BackendKind::kRocksdb),
        ::testing::Values(1, 2, 3),
        ::testing::Values(BackendKind::kHeap, BackendKind::kRocksdb),
        ::testing::Values(1, 2, 3)),
    [](const ::testing::TestParamInfo<Setting>& setting) {
      return absl::StrCat(
          NameOf(std::get<0>(setting.param)), std::get<1>(setting.param), "To",
          NameOf(std::get<2>(setting.param)), std::get<3>(setting.param));
    });

}  // namespace
}  // namespace mayfly
