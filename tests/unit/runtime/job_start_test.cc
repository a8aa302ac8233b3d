// How a job starts: it takes nothing away that it cannot account for, neither
// lines nor checkpoints of another life.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/runtime/stored_job.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/checkpoint_manifest.h"
#include "runtime/lineage.h"
#include "tests/unit/runtime/checkpoint_fixture.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using runtime_internal::ReadManifest;
using ::testing::AllOf;
using ::testing::HasSubstr;

class JobStartTest : public CheckpointFixture {
 protected:
  JobStartTest() { options_.shards = 2; }

  void ExpectAllIsThere() {
    EXPECT_EQ(SortedOutput(), SortedExpected());
    EXPECT_FALSE(fs::exists(options_.state_directory));
  }

  std::string CheckpointDirectory() const {
    return options_.checkpoints->directory;
  }
};

TEST_F(JobStartTest, WithoutStateLeavesAnOutputWithLinesAlone) {
  ASSERT_THAT(RunJob(), IsOk());
  options_.state_directory = directory_.Path("mistyped");
  options_.checkpoints->directory = directory_.Path("other");
  EXPECT_THAT(RunJob(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'" + options_.state_directory + "'"),
                             HasSubstr("'" + Part(0) + "'"),
                             HasSubstr("the right state directory?"),
                             HasSubstr("restore_from"),
                             HasSubstr("move the output away"))));
  ExpectAllIsThere();
  EXPECT_FALSE(fs::exists(CheckpointDirectory()));
}

TEST_F(JobStartTest, WithoutStateLooksAtEachPart) {
  fs::create_directory(output());
  WriteFile(Part(0), "");
  EXPECT_THAT(RunJob(), IsOk());
  ForgetAll();
  fs::create_directory(output());
  WriteFile(Part(1), "mine\n");
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr(Part(1) + "' has 5 bytes")));
  EXPECT_EQ(ReadWholeFile(Part(1)), "mine\n");
}

TEST_F(JobStartTest, ThatWasBrokenOffTakesNoOtherOutputEither) {
  // The function cannot be opened, so that nothing is begun.
  const auto fail = [](VisitJob& job) {
    job.Process([]() -> std::unique_ptr<VisitFunction> { return nullptr; });
  };
  ASSERT_FALSE(RunJob({.change = fail}).ok());
  EXPECT_FALSE(fs::exists(options_.state_directory + "/JOB.mayfly"));
  fs::remove_all(output());
  fs::create_directory(output());
  WriteFile(Part(1), "mine\n");
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(ReadWholeFile(Part(1)), "mine\n");
}

TEST_F(JobStartTest, AnewRefusesTheCheckpointsOfAnEarlierLife) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  ForgetAll();
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 AllOf(HasSubstr(Checkpoint(1)),
                                       HasSubstr("restore_from"),
                                       HasSubstr("a directory of its own"))));
  EXPECT_TRUE(fs::exists(Checkpoint(1)));
  EXPECT_FALSE(fs::exists(options_.state_directory));
  EXPECT_FALSE(fs::exists(output()));
}

TEST_F(JobStartTest, WithStateRefusesTheCheckpointsOfAnotherRun) {
  options_.checkpoints->directory = directory_.Path("other");
  ASSERT_THAT(RunJob(), IsOk());
  const std::string state =
      std::exchange(options_.state_directory, directory_.Path("another state"));
  const std::string written = output() + "-of-the-first";
  fs::rename(output(), written);
  options_.checkpoints->directory = directory_.Path("checkpoints");
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());

  options_.state_directory = state;
  fs::remove_all(output());
  fs::rename(written, output());
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr(Checkpoint(1))));
  EXPECT_EQ(SortedOutput(), SortedExpected());
  EXPECT_TRUE(fs::exists(Checkpoint(1)));
}

TEST_F(JobStartTest, FromACheckpointStaysTheSameJob) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  for (const std::string& from : {Checkpoint(1), Savepoint(1)}) {
    LoseState();
    options_.restore_from = from;
    ASSERT_THAT(
        RunJob({.change = [](VisitJob& job) { job.RequestCheckpoint(); }}),
        IsOk());
  }
  const auto first = ReadManifest(Checkpoint(1));
  ASSERT_THAT(first, IsOk());
  EXPECT_FALSE(runtime_internal::IsSame(first->lineage(), v1::Lineage()));
  for (const int number : {2, 3}) {
    const auto later = ReadManifest(Checkpoint(number));
    ASSERT_THAT(later, IsOk());
    EXPECT_TRUE(runtime_internal::IsSame(first->lineage(), later->lineage()));
  }
  const auto by_hand =
      WriteJobSavepoint(options_.state_directory, directory_.Path("by hand"));
  ASSERT_THAT(by_hand, IsOk());
  const auto later = ReadManifest(by_hand->path);
  ASSERT_THAT(later, IsOk());
  EXPECT_TRUE(runtime_internal::IsSame(first->lineage(), later->lineage()));
}

// It would begin anew by itself, and cut its output.
TEST_F(JobStartTest, WithAShardThatIsLostIsRefused) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  const auto before = SortedOutput();
  const std::string shard = options_.state_directory + "/shard-00001";
  for (const bool emptied : {false, true}) {
    fs::remove_all(shard);
    if (emptied) fs::create_directory(shard);
    EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kDataLoss,
                                   AllOf(HasSubstr("has lost shard-00001"),
                                         HasSubstr("restore_from"))));
    EXPECT_EQ(SortedOutput(), before);
    EXPECT_TRUE(fs::exists(Checkpoint(1)));
  }
}

TEST_F(JobStartTest, TakesNoCheckpointsIntoItsStateDirectory) {
  for (const char* const inside : {"", "/captures", "/shard-x/../shard-y"}) {
    options_.checkpoints->directory = options_.state_directory + inside;
    EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kInvalidArgument,
                                   AllOf(HasSubstr("directory of checkpoints"),
                                         HasSubstr("give one outside"))));
    EXPECT_FALSE(fs::exists(options_.state_directory));
  }
  // Beside it, though its name begins alike.
  options_.checkpoints->directory = options_.state_directory + "-checkpoints";
  EXPECT_THAT(RunJob(), IsOk());
}

TEST_F(JobStartTest, RemovesNoSavepointThatLiesAmongItsCheckpoints) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  EXPECT_THAT(
      WriteJobSavepoint(options_.state_directory, CheckpointDirectory()),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr(Checkpoint(1)),
                     HasSubstr("a directory of their own"))));
  const auto written =
      WriteJobSavepoint(options_.state_directory, directory_.Path("by hand"));
  ASSERT_THAT(written, IsOk());
  const std::string among = CheckpointDirectory() + "/savepoint-00001";
  fs::rename(written->path, among);
  options_.checkpoints->keep = 1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(
        RunJob({.change = [](VisitJob& job) { job.RequestCheckpoint(); }}),
        IsOk());
  }
  EXPECT_TRUE(fs::exists(among));
}

TEST_F(JobStartTest, ThatWasBrokenOffIsNoJobToWriteASavepointOf) {
  v1::JobRecord record;
  record.set_format_version(1);
  record.set_name("visits");
  record.set_shards(2);
  record.set_beginning(true);
  fs::create_directory(options_.state_directory);
  ASSERT_THAT(
      state_internal::WriteRecordFile(options_.state_directory + "/JOB.mayfly",
                                      record, /*sync=*/false),
      IsOk());
  EXPECT_THAT(
      WriteJobSavepoint(options_.state_directory, directory_.Path("by hand")),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("holds no job yet")));
}

// The same flags for each start, whatever has been lost.
TEST_F(JobStartTest, MayAlwaysBeRestoredFromItsOwnCheckpoints) {
  options_.restore_from = CheckpointDirectory() + "/.";
  for (const bool exists : {false, true}) {
    SCOPED_TRACE(exists);
    ForgetAll();
    fs::remove_all(CheckpointDirectory());
    if (exists) fs::create_directory(CheckpointDirectory());
    log_.clear();
    ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
    EXPECT_TRUE(Logged("has no checkpoint in"));
    EXPECT_TRUE(Logged("starts anew"));
    EXPECT_EQ(SortedOutput(), SortedExpected());
  }
  LoseState();
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->records_in_this_run, lines_.size() - 100);
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobStartTest, FromACheckpointNeedsTheLinesThatCameBefore) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  LoseState();
  options_.restore_from = Checkpoint(1);
  const std::string part = ReadWholeFile(Part(1));
  WriteFile(Part(1), "a\n");
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(RunJob(),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr(Part(1) + "' has 2 bytes"),
                               HasSubstr(Checkpoint(1)),
                               HasSubstr("put it back, or move all of"))));
    EXPECT_FALSE(fs::exists(options_.state_directory));
  }
  WriteFile(Part(1), part);
  ASSERT_THAT(RunJob(), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobStartTest, FromACheckpointTakesNoOtherOutputWithLines) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  LoseState();
  options_.restore_from = Checkpoint(1);
  options_.shards = 1;
  const std::string file = directory_.Path("file");
  WriteFile(file, "mine\n");
  EXPECT_THAT(RunJob({.sink = MakeFileSink(file)}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'" + file + "' has 5 bytes"),
                             HasSubstr("are not those of '" + Checkpoint(1)),
                             HasSubstr("another output"))));
  EXPECT_EQ(ReadWholeFile(file), "mine\n");
  EXPECT_FALSE(fs::exists(options_.state_directory));
}

// Fails at the last moment of a start.
class FailsToOpen final : public Sink {
 public:
  explicit FailsToOpen(std::string path)
      : inner_(MakeFileSink(std::move(path))) {}
  const std::string& name() const override { return inner_->name(); }
  absl::Status Check(int shards) override { return inner_->Check(shards); }
  absl::StatusOr<std::unique_ptr<SinkWriter>> OpenShard(
      int shard, int shards,
      std::optional<std::uint64_t> committed_bytes) override {
    if (shard > 0) return absl::UnavailableError("struck");
    return inner_->OpenShard(shard, shards, committed_bytes);
  }

 private:
  const std::unique_ptr<Sink> inner_;
};

TEST_F(JobStartTest, FromACheckpointThatFailsLeavesNoJob) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  LoseState();
  options_.restore_from = Checkpoint(1);
  EXPECT_THAT(RunJob({.sink = std::make_unique<FailsToOpen>(output())}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("struck")));
  EXPECT_FALSE(fs::exists(options_.state_directory + "/JOB.mayfly"));
  EXPECT_FALSE(fs::exists(options_.state_directory + "/shard-00000"));
  ASSERT_THAT(RunJob(), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobStartTest, WithoutAPlaceForThemSaysThatNothingIsTaken) {
  options_.checkpoints = std::nullopt;
  options_.savepoint_directory = "";
  ASSERT_THAT(RunJob({.change =
                          [](VisitJob& job) {
                            job.RequestCheckpoint();
                            job.RequestSavepoint();
                          }}),
              IsOk());
  EXPECT_TRUE(Logged("JobOptions::checkpoints"));
  EXPECT_TRUE(Logged("JobOptions::savepoint_directory"));
  EXPECT_EQ(log_.size(), 2u);
  log_.clear();
  ASSERT_THAT(RunJob(), IsOk());
  EXPECT_FALSE(Logged("takes none"));
}

}  // namespace
}  // namespace mayfly
