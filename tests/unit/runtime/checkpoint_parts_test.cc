// The parts that checkpoints are made of, each by itself.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "runtime/capture.h"
#include "runtime/checkpoint_manifest.h"
#include "runtime/checkpoint_store.h"
#include "runtime/job_restore.h"
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

TEST(CheckpointStoreTest, IsOfOneJobAtATime) {
  const TempDirectory directory;
  const std::string path = directory.Path("checkpoints");
  const auto held = CheckpointStore::Open(path, "job", Durability::kProcess);
  ASSERT_THAT(held, IsOk());
  EXPECT_THAT(CheckpointStore::Open(path, "job", Durability::kProcess),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(path), HasSubstr("in use"))));
}

// What a disk that fails gives back is not taken for what was captured.
TEST(CheckpointStoreTest, ACopyIsComparedWithWhatWasCaptured) {
  const TempDirectory directory;
  const std::string memory =
      "/dev/shm/" + directory.path().substr(directory.path().rfind('/') + 1);
  auto store = CheckpointStore::Open(memory, "job", Durability::kProcess);
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
  const RestoredPositions gone = PositionsFor(ManifestOf({5, 6}), 2, false);
  EXPECT_THAT(LengthsOf(gone), ElementsAre(0, 0));
  const RestoredPositions to_file = PositionsFor(ManifestOf({5, 6}), 1, true);
  EXPECT_THAT(LengthsOf(to_file), ElementsAre(0));
  EXPECT_THAT(to_file.retired_output_bytes, IsEmpty());
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
