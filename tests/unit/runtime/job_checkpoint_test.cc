// How checkpoints of a job are taken, kept and shared, and what of them is
// passed over.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"
#include "runtime/checkpoint_manifest.h"
#include "tests/unit/runtime/checkpoint_fixture.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using runtime_internal::ReadManifest;
using runtime_internal::VerifyFiles;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

absl::Status VerifyCheckpoint(const std::string& path) {
  const auto manifest = ReadManifest(path);
  if (!manifest.ok()) return manifest.status();
  return VerifyFiles(path, *manifest,
                     [](std::uint64_t) { return absl::OkStatus(); });
}

struct stat StatOf(const std::string& path) {
  struct stat result = {};
  EXPECT_EQ(::stat(path.c_str(), &result), 0) << path;
  return result;
}

std::vector<std::string> FilesOf(const std::string& checkpoint) {
  std::vector<std::string> paths;
  const auto manifest = ReadManifest(checkpoint);
  EXPECT_THAT(manifest, IsOk());
  for (const v1::CheckpointShard& shard : manifest->shards()) {
    for (const v1::CheckpointedFile& file : shard.files()) {
      paths.push_back(file.path());
    }
  }
  return paths;
}

class JobCheckpointTest : public CheckpointFixture {
 protected:
  JobCheckpointTest() { options_.shards = 2; }

  // Loses the state and has the job go on from what is in `from`.
  absl::StatusOr<JobSummary> RestoreFrom(const std::string& from) {
    LoseState();
    log_.clear();
    options_.restore_from = from;
    return RunJob();
  }
};

TEST_F(JobCheckpointTest, HaveAManifestOfAllThatBelongsToThem) {
  const auto summary = RunWithCheckpointsAfter({100});
  ASSERT_THAT(summary, IsOk());
  const auto manifest = ReadManifest(Checkpoint(1));
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->kind(), v1::CHECKPOINT_KIND_CHECKPOINT);
  EXPECT_EQ(manifest->number(), 1u);
  EXPECT_EQ(manifest->job(), "visits");
  EXPECT_EQ(manifest->backend(), v1::BACKEND_KIND_ROCKSDB);
  ASSERT_EQ(manifest->shards_size(), 2);
  std::uint64_t records = 0;
  for (const v1::CheckpointShard& shard : manifest->shards()) {
    EXPECT_EQ(shard.position().input_lines(), 100u);
    records += shard.position().records();
  }
  EXPECT_EQ(records, 100u);
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(1)), IsOk());
  EXPECT_THAT(VerifyCheckpoint(Savepoint(1)), IsOk());
  EXPECT_THAT(NamesIn(Savepoint(1)),
              ElementsAre("manifest", "shard-00000.savepoint",
                          "shard-00001.savepoint"));
  EXPECT_EQ(summary->checkpoints.taken, 1u);
  EXPECT_EQ(summary->checkpoints.failed, 0u);
  EXPECT_EQ(summary->checkpoints.newest, Checkpoint(1));
  EXPECT_EQ(summary->checkpoints.newest_bytes,
            runtime_internal::BytesOf(*manifest));
  EXPECT_EQ(summary->savepoints.newest, Savepoint(1));
  EXPECT_TRUE(Logged("took " + Checkpoint(1)));
  // Nothing that was captured stays behind.
  EXPECT_THAT(NamesIn(options_.state_directory + "/captures"), IsEmpty());
}

TEST_F(JobCheckpointTest, AreTakenAtTheInterval) {
  const auto clock = std::make_shared<ManualClock>(1000);
  options_.processing_clock = clock;
  options_.checkpoints->interval = std::chrono::seconds(60);
  int passed = 0;
  const auto advance = [&](VisitJob& job) {
    job.From(std::make_unique<PausingSource>(
                 MakeFileSource(input()), std::set<std::uint64_t>{50, 100, 150},
                 [&](std::uint64_t line) {
                   // 40 s, then 80 s, then 120 s after the start.
                   if (static_cast<int>(line) / 50 > passed) {
                     ++passed;
                     clock->Advance(std::chrono::seconds(40));
                   }
                   return line != 100 || fs::exists(Checkpoint(1));
                 }),
             ParseVisit);
  };
  const auto summary = RunJob({.change = advance});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->checkpoints.taken, 1u);
  const auto manifest = ReadManifest(Checkpoint(1));
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->shards(0).position().input_lines(), 100u);
  EXPECT_EQ(manifest->time_ms(), 81'000);
}

TEST_F(JobCheckpointTest, OnStopHoldTheEndOfTheInput) {
  options_.checkpoints->on_stop = true;
  options_.savepoint_on_stop = true;
  ASSERT_THAT(RunJob(), IsOk());
  const auto again = RestoreFrom(Checkpoint(1));
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->already_complete);
  EXPECT_EQ(again->records, lines_.size());
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, AreTakenOnACleanStopUnlessToldOtherwise) {
  options_.checkpoints->on_stop = CheckpointOptions().on_stop;
  ASSERT_THAT(RunJob({.change = [](VisitJob& job) { job.RequestStop(); }}),
              IsOk());
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(1)), IsOk());
  ASSERT_THAT(RunJob(), IsOk());
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(2)), IsOk());
  // Nothing has happened since, and older ones are worth more than copies.
  const auto again = RunJob();
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->checkpoints.taken, 0u);
  EXPECT_FALSE(fs::exists(Checkpoint(3)));
}

TEST_F(JobCheckpointTest, OnStopWaitForShardsThatAreBehind) {
  options_.commit_records_max = 1;
  // Shard 0 fails when shard 1 has committed what comes later in the input.
  std::atomic<int> first = 0;
  std::atomic<int> second = 0;
  ASSERT_FALSE(RunJob({.before_each = [&](const Visit& visit) {
                 if (PartitionForKey(visit.user, 2) == 1) {
                   ++second;
                   return absl::OkStatus();
                 }
                 if (++first < 20) return absl::OkStatus();
                 const int before = second;
                 while (second < before + 2) std::this_thread::yield();
                 return absl::AbortedError("struck");
               }}).ok());
  options_.savepoint_on_stop = true;
  ASSERT_THAT(RunJob({.change = [](VisitJob& job) { job.RequestStop(); }}),
              IsOk());
  EXPECT_LT(SortedOutput().size(), lines_.size());
  ASSERT_THAT(RestoreFrom(Savepoint(1)), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, OnlyTheLastAreKept) {
  options_.checkpoints->keep = 2;
  ASSERT_THAT(RunWithCheckpointsAfter({10, 20, 30, 40}), IsOk());
  EXPECT_THAT(NamesIn(options_.checkpoints->directory),
              ElementsAre("LOCK", "checkpoint-00003", "checkpoint-00004"));
  // Savepoints are the operator's.
  EXPECT_TRUE(fs::exists(Savepoint(1)));
}

// C67
TEST_F(JobCheckpointTest, AreNotHinderedByWhatACrashLeft) {
  ASSERT_THAT(RunWithCheckpointsAfter({10}), IsOk());
  LoseState();
  fs::create_directories(Checkpoint(2) + ".tmp/shard-00000/db");
  WriteFile(Checkpoint(2) + ".tmp/shard-00000/db/000007.sst.trash", "half");
  // Whole but for its manifest.
  fs::copy(Checkpoint(1), Checkpoint(3), fs::copy_options::recursive);
  fs::remove(Checkpoint(3) + "/manifest");
  fs::create_directories(options_.state_directory + "/captures/1/shard-00000");

  options_.restore_from = options_.checkpoints->directory;
  ASSERT_THAT(RunJob({.change =
                          [&](VisitJob& job) {
                            job.From(
                                std::make_unique<PausingSource>(
                                    MakeFileSource(input()),
                                    std::set<std::uint64_t>{50},
                                    [&, asked = false](std::uint64_t) mutable {
                                      if (!asked) job.RequestCheckpoint();
                                      asked = true;
                                      return fs::exists(Checkpoint(4));
                                    }),
                                ParseVisit);
                          }}),
              IsOk());
  EXPECT_TRUE(Logged("is restored from " + Checkpoint(1)));
  EXPECT_TRUE(Logged(Checkpoint(3) + " is BROKEN"));
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(4)), IsOk());
  EXPECT_FALSE(fs::exists(Checkpoint(2) + ".tmp"));
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, ABrokenOneIsPassedOverForTheOneBefore) {
  ASSERT_THAT(RunWithCheckpointsAfter({100, 200}), IsOk());
  const std::string whole = directory_.Path("whole");
  fs::copy(Checkpoint(2), whole, fs::copy_options::recursive);
  const std::string file = FilesOf(Checkpoint(2)).front();
  const std::map<std::string, std::function<void()>> damages = {
      {"a flipped bit",
       [&] {
         std::string bytes = ReadWholeFile(Checkpoint(2) + "/" + file);
         bytes[bytes.size() / 2] ^= 1;
         WriteFile(Checkpoint(2) + "/" + file, bytes);
       }},
      {"a file cut short",
       [&] { fs::resize_file(Checkpoint(2) + "/" + file, 1); }},
      {"a missing file", [&] { fs::remove(Checkpoint(2) + "/" + file); }},
      {"a cut manifest",
       [&] { fs::resize_file(Checkpoint(2) + "/manifest", 20); }},
      {"half a copy",
       [&] {
         fs::remove_all(Checkpoint(2) + "/shard-00001");
         fs::remove(Checkpoint(2) + "/manifest");
       }},
      {"nothing in it", [&] {
         fs::remove_all(Checkpoint(2));
         fs::create_directory(Checkpoint(2));
       }}};
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    fs::remove_all(Checkpoint(2));
    fs::copy(whole, Checkpoint(2), fs::copy_options::recursive);
    damage();
    ASSERT_THAT(RestoreFrom(options_.checkpoints->directory), IsOk());
    EXPECT_TRUE(Logged(Checkpoint(2) + " is BROKEN"));
    EXPECT_TRUE(Logged("is restored from " + Checkpoint(1)));
    EXPECT_EQ(SortedOutput(), SortedExpected());
    // Asked for by its name it is refused.
    EXPECT_FALSE(RestoreFrom(Checkpoint(2)).ok());
  }
}

TEST_F(JobCheckpointTest, IfNothingIsWholeNothingIsTouched) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  fs::resize_file(Checkpoint(1) + "/" + FilesOf(Checkpoint(1)).front(), 1);
  EXPECT_THAT(RestoreFrom(options_.checkpoints->directory),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("nothing in"), HasSubstr("damaged"))));
  EXPECT_FALSE(fs::exists(options_.state_directory));
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, ANewerFormatIsRefusedAndNotPassedOver) {
  ASSERT_THAT(RunWithCheckpointsAfter({100, 200}), IsOk());
  auto manifest = ReadManifest(Checkpoint(2));
  ASSERT_THAT(manifest, IsOk());
  manifest->set_format_version(2);
  ASSERT_THAT(state_internal::WriteRecordFile(Checkpoint(2) + "/manifest",
                                              *manifest, /*sync=*/false),
              IsOk());
  EXPECT_THAT(RestoreFrom(options_.checkpoints->directory),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("newer program")));
}

TEST_F(JobCheckpointTest, OfAnotherJobAreRefused) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  options_.name = "arrivals";
  EXPECT_THAT(RestoreFrom(Checkpoint(1)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'visits'"), HasSubstr("'arrivals'"))));
  options_.restore_from = "";
  ForgetAll();
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("a directory of its own")));
}

TEST_F(JobCheckpointTest, NothingToRestoreFromIsRefused) {
  EXPECT_THAT(RestoreFrom(directory_.Path("nowhere")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("not there")));
  fs::create_directory(directory_.Path("empty"));
  EXPECT_THAT(RestoreFrom(directory_.Path("empty")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("holds no")));
  EXPECT_FALSE(fs::exists(options_.state_directory));
}

TEST_F(JobCheckpointTest, AManifestThatLeadsElsewhereIsRefused) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  auto manifest = ReadManifest(Checkpoint(1));
  ASSERT_THAT(manifest, IsOk());
  for (const char* path :
       {"../../in", "/etc/passwd", "", "shard-00000/../.."}) {
    manifest->mutable_shards(0)->mutable_files(0)->set_path(path);
    ASSERT_THAT(state_internal::WriteRecordFile(Checkpoint(1) + "/manifest",
                                                *manifest, /*sync=*/false),
                IsOk());
    EXPECT_THAT(RestoreFrom(Checkpoint(1)),
                StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(JobCheckpointTest, AStateDirectoryThatHoldsTheJobGoesFirst) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  options_.restore_from = Checkpoint(1);
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_TRUE(summary->already_complete);
  EXPECT_TRUE(Logged("passes by what it was to be restored from"));
}

TEST_F(JobCheckpointTest, ARestoreThatWasBrokenOffIsBegunAnew) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  LoseState();
  // What is there when it is killed amid its second shard.
  v1::JobRecord record;
  record.set_format_version(1);
  record.set_name("visits");
  record.set_shards(2);
  record.set_restoring_from(Checkpoint(1));
  fs::create_directories(options_.state_directory + "/shard-00000/db");
  WriteFile(options_.state_directory + "/shard-00000/db/CURRENT", "half");
  fs::create_directories(options_.state_directory + "/shard-00001.tmp");
  ASSERT_THAT(
      state_internal::WriteRecordFile(options_.state_directory + "/JOB.mayfly",
                                      record, /*sync=*/false),
      IsOk());
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 AllOf(HasSubstr("was being restored from"),
                                       HasSubstr(Checkpoint(1)))));
  options_.restore_from = Checkpoint(1);
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->records_in_this_run, lines_.size() - 100);
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, ARestoreEndsWhenTheJobIsAskedToStop) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  LoseState();
  options_.restore_from = Checkpoint(1);
  // While files are checked, and while keys are loaded.
  EXPECT_THAT(RunJob({.change = [](VisitJob& job) { job.RequestStop(); }}),
              StatusIs(absl::StatusCode::kCancelled));
  options_.backend = BackendKind::kHeap;
  const auto stop_when_loading = [](VisitJob& job) {
    job.OnProgress(std::chrono::milliseconds(0),
                   [&job](const JobProgress& progress) {
                     if (progress.restore &&
                         progress.restore->done == progress.restore->total) {
                       job.RequestStop();
                     }
                   });
  };
  EXPECT_THAT(RunJob({.change = stop_when_loading}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(fs::exists(options_.state_directory + "/JOB.mayfly"));
  EXPECT_FALSE(fs::exists(options_.state_directory + "/shard-00000"));
  ASSERT_THAT(RunJob(), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, AFailedOneIsCountedAndHarmsNobody) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0777), 0);
  const WithoutRoot without_root;
  const auto forbid = [&](VisitJob& job) {
    job.From(
        std::make_unique<PausingSource>(
            MakeFileSource(input()), std::set<std::uint64_t>{50},
            [&](std::uint64_t) {
              EXPECT_EQ(::chmod(options_.checkpoints->directory.c_str(), 0555),
                        0);
              EXPECT_EQ(::chmod(options_.savepoint_directory.c_str(), 0555), 0);
              job.RequestCheckpoint();
              return true;
            }),
        ParseVisit);
  };
  const auto summary = RunJob({.change = forbid});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->checkpoints.failed, 1u);
  EXPECT_EQ(summary->checkpoints.taken, 0u);
  EXPECT_TRUE(Logged("took no checkpoint"));
  EXPECT_EQ(SortedOutput(), SortedExpected());

  // A savepoint that was to be written on stop is what somebody waits for.
  options_.savepoint_on_stop = true;
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kPermissionDenied,
                                 HasSubstr("without the savepoint")));
  ASSERT_EQ(::chmod(options_.checkpoints->directory.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(options_.savepoint_directory.c_str(), 0755), 0);
}

// Loaded from a savepoint, a database has its entries in table files.
class SharedFilesTest : public JobCheckpointTest {
 protected:
  void SetUp() override {
    ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
    LoseState();
    fs::remove_all(options_.checkpoints->directory);
  }

  // Checkpoints 1 and 2 of a job that begins with table files.
  void TakeTwo() {
    options_.restore_from = Savepoint(1);
    ASSERT_THAT(RunWithCheckpointsAfter({200, 300}), IsOk());
    for (const std::string& path : FilesOf(Checkpoint(2))) {
      if (absl::EndsWith(path, ".sst")) tables_.push_back(path);
    }
    ASSERT_FALSE(tables_.empty());
  }

  std::vector<std::string> tables_;
};

TEST_F(SharedFilesTest, TableFilesAreLinksOfOneAnother) {
  TakeTwo();
  for (const std::string& path : tables_) {
    EXPECT_EQ(StatOf(Checkpoint(1) + "/" + path).st_ino,
              StatOf(Checkpoint(2) + "/" + path).st_ino);
    EXPECT_EQ(StatOf(Checkpoint(1) + "/" + path).st_ino,
              StatOf(options_.state_directory + "/" + path).st_ino);
  }
  EXPECT_TRUE(Logged("of them new"));
}

TEST_F(SharedFilesTest, ARestoredJobWritesToNoFileOfTheCheckpoint) {
  TakeTwo();
  ASSERT_THAT(RestoreFrom(Checkpoint(2)), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
  int own = 0;
  for (const std::string& path : FilesOf(Checkpoint(2))) {
    if (absl::EndsWith(path, ".sst")) continue;
    const std::string restored = options_.state_directory + "/" + path;
    if (!fs::exists(restored)) continue;
    ++own;
    EXPECT_NE(StatOf(Checkpoint(2) + "/" + path).st_ino,
              StatOf(restored).st_ino);
  }
  EXPECT_GT(own, 0);
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(2)), IsOk());
  // The newer one outlives the older, whose files it shares.
  fs::remove_all(Checkpoint(1));
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(2)), IsOk());
}

TEST_F(SharedFilesTest, OnAnotherFileSystemOnlyNewFilesAreCopied) {
  const std::string memory = "/dev/shm";
  if (!fs::exists(memory) ||
      StatOf(memory).st_dev == StatOf(directory_.path()).st_dev) {
    GTEST_SKIP() << "there is no second file system at " << memory;
  }
  const std::string other = absl::StrCat(
      memory, "/", fs::path(directory_.path()).filename().string());
  options_.checkpoints->directory = other;
  TakeTwo();
  for (const std::string& path : tables_) {
    EXPECT_EQ(StatOf(Checkpoint(1) + "/" + path).st_ino,
              StatOf(Checkpoint(2) + "/" + path).st_ino);
  }
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(1)), IsOk());
  EXPECT_THAT(VerifyCheckpoint(Checkpoint(2)), IsOk());
  ASSERT_THAT(RestoreFrom(other), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
  fs::remove_all(other);
}

// The lines of shards that are no more stay, and are gone on with when there
// are as many shards again.
TEST_F(JobCheckpointTest, PartsOutliveTheirShards) {
  options_.shards = 3;
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  options_.shards = 2;
  LoseState();
  options_.restore_from = Savepoint(1);
  ASSERT_THAT(RunWithCheckpointsAfter({200}), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
  const auto before = LinesOf(Part(2));
  EXPECT_FALSE(before.empty());
  // Started again without anything to restore from, it knows of them, too.
  options_.restore_from = "";
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(LinesOf(Part(2)), before);
  ASSERT_EQ(summary->retired_outputs.size(), 1u);
  EXPECT_EQ(summary->retired_outputs[0].name, Part(2));
  EXPECT_EQ(summary->retired_outputs[0].bytes, fs::file_size(Part(2)));

  options_.shards = 3;
  ASSERT_THAT(RestoreFrom(Savepoint(2)), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
  EXPECT_GT(LinesOf(Part(2)).size(), before.size());
}

TEST_F(JobCheckpointTest, AnOutputThatIsNotThereBeginsEmpty) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  fs::remove_all(output());
  ASSERT_THAT(RestoreFrom(Checkpoint(1)), IsOk());
  EXPECT_EQ(SortedOutput().size(), lines_.size() - 100);
  EXPECT_TRUE(Logged("begins EMPTY"));
}

TEST_F(JobCheckpointTest, ADirectoryIsNoOutputOfOneShard) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  options_.shards = 1;
  EXPECT_THAT(RestoreFrom(Checkpoint(1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("give the path of a file")));
  EXPECT_FALSE(fs::exists(options_.state_directory));
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

TEST_F(JobCheckpointTest, AJobWithoutElementsCanBeRestored) {
  WriteFile(input(), "");
  options_.checkpoints->on_stop = true;
  ASSERT_THAT(RunJob(), IsOk());
  WriteInput(lines_);
  ASSERT_THAT(RestoreFrom(Checkpoint(1)), IsOk());
  EXPECT_EQ(SortedOutput(), SortedExpected());
}

}  // namespace
}  // namespace mayfly
