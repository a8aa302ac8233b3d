// The parts that checkpoints are made of, each by itself.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "runtime/capture.h"
#include "runtime/checkpoint_manifest.h"
#include "runtime/checkpoint_store.h"
#include "runtime/job_restore.h"
#include "runtime/lineage.h"
#include "tests/unit/runtime/test_files.h"

namespace mayfly::runtime_internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CapturedShard At(std::uint64_t bytes) {
  CapturedShard shard;
  shard.position.set_input_bytes(bytes);
  return shard;
}

TEST(CaptureTest, IsCompleteWithItsLastShard) {
  int completions = 0;
  Capture capture("/captures/1", 2, [&] { ++completions; });
  EXPECT_EQ(capture.ShardDirectory(1), "/captures/1/shard-00001");
  capture.Add(1, At(7));
  EXPECT_FALSE(capture.complete());
  EXPECT_EQ(completions, 0);
  capture.Add(0, At(7));
  EXPECT_TRUE(capture.complete());
  EXPECT_EQ(completions, 1);
  const auto shards = capture.Take();
  ASSERT_THAT(shards, IsOk());
  EXPECT_EQ(shards->size(), 2u);
}

TEST(CaptureTest, FailsIfAShardFails) {
  Capture capture("/captures/1", 2, [] {});
  capture.Add(0, At(7));
  capture.Add(1, absl::ResourceExhaustedError("full"));
  EXPECT_TRUE(capture.complete());
  EXPECT_THAT(capture.Take(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("shard 1"), HasSubstr("full"))));
}

TEST(CaptureTest, FailsIfTheShardsStandAtDifferentPlaces) {
  Capture capture("/captures/1", 2, [] {});
  capture.Add(0, At(7));
  capture.Add(1, At(8));
  EXPECT_THAT(capture.Take(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       HasSubstr("same place of the input")));
}

TEST(ListCheckpointsTest, TheNewestIsFirstAndWhatIsUnderWayIsNotThere) {
  const TempDirectory directory;
  for (const char* name :
       {"checkpoint-00009", "savepoint-00010", "checkpoint-100000",
        "checkpoint-00011.tmp", "checkpoint-", "shard-00012", "LOCK"}) {
    ASSERT_THAT(state_internal::MakeDirectory(directory.Path(name)), IsOk());
  }
  const auto stored = ListCheckpoints(directory.path());
  ASSERT_THAT(stored, IsOk());
  std::vector<std::uint64_t> numbers;
  for (const StoredCheckpoint& checkpoint : *stored) {
    numbers.push_back(checkpoint.number);
  }
  EXPECT_THAT(numbers, ElementsAre(100'000, 10, 9));
}

absl::StatusOr<CheckpointStore> OpenStore(const std::string& path,
                                          const v1::Lineage& lineage = {}) {
  return CheckpointStore::Open(path, "job", lineage, Durability::kProcess);
}

TEST(CheckpointStoreTest, IsOfOneJobAtATime) {
  const TempDirectory directory;
  const std::string path = directory.Path("checkpoints");
  const auto held = OpenStore(path);
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(OpenStore(path),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("directory of checkpoints"),
                             HasSubstr(path), HasSubstr("in use"))));
}

v1::CheckpointManifest OneOf(v1::CheckpointKind kind,
                             const v1::Lineage& lineage) {
  v1::CheckpointManifest manifest;
  manifest.set_kind(kind);
  manifest.set_number(7);
  manifest.set_job("job");
  *manifest.mutable_lineage() = lineage;
  v1::CheckpointShard& shard = *manifest.add_shards();
  shard.mutable_position()->set_input_bytes(1000);
  shard.mutable_position()->set_input_lines(100);
  shard.add_files()->set_path("shard-00000/snapshot");
  return manifest;
}

class CheckpointLineageTest : public ::testing::Test {
 protected:
  CheckpointLineageTest() {
    one_.set_begun_ms(1000);
    one_.set_random(1);
    other_.set_begun_ms(1000);
    other_.set_random(2);
  }

  void Put(v1::CheckpointKind kind, const v1::Lineage& lineage) {
    const std::string path =
        directory_.Path(std::string(PrefixOf(kind)) + "00007");
    ASSERT_THAT(state_internal::MakeDirectory(path), IsOk());
    ASSERT_THAT(WriteManifest(path, OneOf(kind, lineage), /*sync=*/false),
                IsOk());
  }

  absl::Status Open(const v1::Lineage& lineage) {
    return OpenStore(directory_.path(), lineage).status();
  }

  TempDirectory directory_;
  v1::Lineage one_;
  v1::Lineage other_;
};

TEST_F(CheckpointLineageTest, CheckpointsOfAnotherOneAreRefused) {
  Put(v1::CHECKPOINT_KIND_CHECKPOINT, one_);
  EXPECT_THAT(Open(one_), IsOk());
  EXPECT_THAT(Open(other_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(directory_.path()),
                             HasSubstr("checkpoint-00007"),
                             HasSubstr("begun 1970-01-01T00:00:01Z"),
                             HasSubstr("a directory of its own"),
                             HasSubstr("restore_from"))));
}

// Jobs that an earlier version began go on with its checkpoints; others do not.
TEST_F(CheckpointLineageTest, ThoseOfAnEarlierVersionAreOfOne) {
  Put(v1::CHECKPOINT_KIND_CHECKPOINT, {});
  EXPECT_THAT(Open({}), IsOk());
  EXPECT_THAT(Open(one_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr("by an earlier version")));
}

// Whose it is cannot be told, and it would be removed in time.
TEST_F(CheckpointLineageTest, OneOfANewerVersionIsRefused) {
  Put(v1::CHECKPOINT_KIND_CHECKPOINT, one_);
  v1::CheckpointManifest newer = OneOf(v1::CHECKPOINT_KIND_CHECKPOINT, one_);
  newer.set_format_version(2);
  ASSERT_THAT(state_internal::WriteRecordFile(
                  directory_.Path("checkpoint-00007/manifest"), newer,
                  /*sync=*/false),
              IsOk());
  EXPECT_THAT(Open(one_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasSubstr("newer program")));
}

// Nobody removes them.
TEST_F(CheckpointLineageTest, SavepointsOfSeveralMayLieTogether) {
  Put(v1::CHECKPOINT_KIND_SAVEPOINT, one_);
  EXPECT_THAT(Open(other_), IsOk());
}

TEST_F(CheckpointLineageTest, TheStoreKnowsWhereTheNewestStands) {
  EXPECT_EQ(OpenStore(directory_.path())->found_at(), std::nullopt);
  Put(v1::CHECKPOINT_KIND_CHECKPOINT, one_);
  const auto store = OpenStore(directory_.path(), one_);
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ(store->found_at(), (SourcePosition{.bytes = 1000, .lines = 100}));
}

TEST(LineageTest, TwoStartsAtTheSameTimeAreTwo) {
  const ManualClock clock(1000);
  const v1::Lineage one = NewLineage(clock);
  EXPECT_EQ(one.begun_ms(), 1000);
  EXPECT_TRUE(IsSame(one, one));
  EXPECT_FALSE(IsSame(one, NewLineage(clock)));
}

// What a disk that fails gives back is not taken for what was captured.
TEST(CheckpointStoreTest, ACopyIsComparedWithWhatWasCaptured) {
  const TempDirectory directory;
  const std::string memory =
      "/dev/shm/" + directory.path().substr(directory.path().rfind('/') + 1);
  auto store = OpenStore(memory);
  if (!store.ok()) GTEST_SKIP() << "no second file system at /dev/shm";
  const std::string shard = directory.Path("shard-00000");
  ASSERT_THAT(state_internal::MakeDirectory(shard), IsOk());
  WriteFile(shard + "/snapshot", "damaged");
  CapturedJob job{.directory = directory.path()};
  job.shards.emplace_back().files = {
      {.path = "snapshot", .bytes = 7, .crc32c = 1}};
  const auto put = store->PutCheckpoint(job);
  EXPECT_THAT(put, StatusIs(absl::StatusCode::kDataLoss,
                            HasSubstr(shard + "/snapshot")));
  const auto left = ListCheckpoints(memory);
  ASSERT_THAT(left, IsOk());
  EXPECT_THAT(*left, IsEmpty());
  EXPECT_THAT(state_internal::RemoveAll(memory), IsOk());
}

v1::CheckpointManifest ManifestOf(const std::vector<std::uint64_t>& lengths) {
  v1::CheckpointManifest manifest;
  for (const std::uint64_t length : lengths) {
    v1::ShardPosition& position = *manifest.add_shards()->mutable_position();
    position.set_input_bytes(1000);
    position.set_input_lines(100);
    position.set_malformed_lines(3);
    position.set_records(10);
    position.set_late_elements(1);
    position.set_output_bytes(length);
  }
  return manifest;
}

std::vector<std::uint64_t> LengthsOf(const RestoredPositions& positions) {
  std::vector<std::uint64_t> lengths;
  for (const v1::ShardPosition& position : positions.shards) {
    lengths.push_back(position.output_bytes());
  }
  return lengths;
}

TEST(PositionsForTest, AsManyShardsAreWhereTheyWere) {
  const v1::CheckpointManifest manifest = ManifestOf({5, 6});
  const RestoredPositions positions = PositionsFor(manifest, 2, true);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(positions.shards[static_cast<std::size_t>(i)].SerializeAsString(),
              manifest.shards(i).position().SerializeAsString());
  }
  EXPECT_THAT(positions.retired_output_bytes, IsEmpty());
}

TEST(PositionsForTest, OtherShardsBeginAtTheSameLineWithTheSameTotals) {
  const RestoredPositions positions = PositionsFor(ManifestOf({5, 6}), 3, true);
  std::uint64_t records = 0;
  std::uint64_t late_elements = 0;
  for (const v1::ShardPosition& position : positions.shards) {
    EXPECT_EQ(position.input_bytes(), 1000u);
    EXPECT_EQ(position.input_lines(), 100u);
    EXPECT_EQ(position.malformed_lines(), 3u);
    records += position.records();
    late_elements += position.late_elements();
  }
  EXPECT_EQ(records, 20u);
  EXPECT_EQ(late_elements, 2u);
}

TEST(PositionsForTest, PartsBelongToTheShardsOfTheirNumbers) {
  v1::CheckpointManifest manifest = ManifestOf({5, 6, 7});
  const RestoredPositions fewer = PositionsFor(manifest, 2, true);
  EXPECT_THAT(LengthsOf(fewer), ElementsAre(5, 6));
  EXPECT_THAT(fewer.retired_output_bytes, ElementsAre(7));
  const RestoredPositions more = PositionsFor(manifest, 5, true);
  EXPECT_THAT(LengthsOf(more), ElementsAre(5, 6, 7, 0, 0));
  EXPECT_THAT(more.retired_output_bytes, IsEmpty());
  // A part that was retired is taken up again.
  manifest.add_retired_output_bytes(8);
  manifest.add_retired_output_bytes(9);
  const RestoredPositions again = PositionsFor(manifest, 4, true);
  EXPECT_THAT(LengthsOf(again), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(again.retired_output_bytes, ElementsAre(9));
}

TEST(PositionsForTest, AnotherOutputBeginsEmpty) {
  EXPECT_TRUE(PositionsFor(ManifestOf({5, 6}), 3, true).output_goes_on);
  const RestoredPositions gone = PositionsFor(ManifestOf({5, 6}), 2, false);
  EXPECT_FALSE(gone.output_goes_on);
  EXPECT_THAT(LengthsOf(gone), ElementsAre(0, 0));
  const RestoredPositions to_file = PositionsFor(ManifestOf({5, 6}), 1, true);
  EXPECT_THAT(LengthsOf(to_file), ElementsAre(0));
  EXPECT_THAT(to_file.retired_output_bytes, IsEmpty());
  EXPECT_FALSE(to_file.output_goes_on);
  const RestoredPositions to_parts = PositionsFor(ManifestOf({5}), 2, true);
  EXPECT_THAT(LengthsOf(to_parts), ElementsAre(0, 0));
}

TEST(PositionsForTest, TheInputIsDoneIfAllShardsWereDone) {
  v1::CheckpointManifest manifest = ManifestOf({5, 6});
  manifest.mutable_shards(0)->mutable_position()->set_input_done(true);
  EXPECT_FALSE(PositionsFor(manifest, 3, true).shards[0].input_done());
  manifest.mutable_shards(1)->mutable_position()->set_input_done(true);
  EXPECT_TRUE(PositionsFor(manifest, 3, true).shards[2].input_done());
}

}  // namespace
}  // namespace mayfly::runtime_internal
