// What the state layer once wrote is read for ever, and is what it still
// writes: the records of a directory and of a commit, and a snapshot file.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/state.pb.h"
#include "state/snapshot_file.h"
#include "tests/golden/golden_file.h"
#include "tests/unit/serde/hex.h"

namespace mayfly::golden {
namespace {

using state_internal::SnapshotReader;
using state_internal::SnapshotWriter;

constexpr char kFolder[] = MAYFLY_GOLDEN_DIR "/v1/state/";

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool RegenerationAsked() {
  const char* const asked = std::getenv("MAYFLY_REGENERATE_GOLDEN");
  return asked != nullptr && std::string(asked) == "1";
}

// --- Records ---

template <typename Message>
Sample SampleOf(std::string label, const Message& message) {
  const std::string bytes = message.SerializeAsString();
  return {std::move(label), bytes, [bytes](std::string_view stored) {
            Message read;
            return read.ParseFromArray(stored.data(),
                                       static_cast<int>(stored.size())) &&
                   read.SerializeAsString() == bytes;
          }};
}

v1::StateRecord Streak() {
  v1::StateRecord state;
  state.set_name("streak");
  state.set_kind(v1::STATE_KIND_VALUE);
  state.mutable_key_serializer()->set_name("string");
  state.mutable_key_serializer()->set_version(1);
  state.mutable_value_serializer()->set_name("int64");
  state.mutable_value_serializer()->set_version(1);
  return state;
}

v1::StateRecord Rewritten() {
  v1::StateRecord state = Streak();
  state.mutable_value_serializer()->set_version(2);
  state.set_column_family("streak~2");
  return state;
}

v1::StateRecord Recent() {
  v1::StateRecord state = Streak();
  state.set_name("recent");
  state.set_kind(v1::STATE_KIND_LIST);
  v1::TtlRecord* const ttl = state.mutable_ttl();
  ttl->set_ttl_ms(10'800'000);
  ttl->set_expired_through_ms(std::numeric_limits<std::int64_t>::min());
  ttl->set_time_characteristic(v1::TIME_CHARACTERISTIC_EVENT);
  return state;
}

v1::StateRecord Destinations() {
  v1::StateRecord state = Streak();
  state.set_name("destinations");
  state.set_kind(v1::STATE_KIND_MAP);
  state.mutable_map_key_serializer()->set_name("string");
  state.mutable_map_key_serializer()->set_version(2);
  v1::TtlRecord* const ttl = state.mutable_ttl();
  ttl->set_ttl_ms(-1);
  ttl->set_expired_through_ms(978'307'200'000);
  ttl->set_time_characteristic(v1::TIME_CHARACTERISTIC_PROCESSING);
  return state;
}

v1::ShardRecord Shard(v1::BackendKind backend) {
  v1::ShardRecord shard;
  shard.set_format_version(1);
  shard.set_backend(backend);
  return shard;
}

v1::CommitRecord Commit() {
  v1::CommitRecord commit;
  commit.set_sequence(300);
  commit.set_processing_clock_ms(978'311'220'000);
  commit.set_event_clock_ms(-1);
  commit.set_position(std::string("line\0 42", 8));
  return commit;
}

// A record file as the code writes it today.
std::string WriteRecord(const v1::ShardRecord& record) {
  const TempDirectory directory;
  const std::string path = directory.Path("record");
  if (!state_internal::WriteRecordFile(path, record, /*sync=*/false).ok()) {
    std::abort();
  }
  return ReadFile(path);
}

bool ReadsBack(std::string_view stored, const v1::ShardRecord& record) {
  const TempDirectory directory;
  const std::string path = directory.Path("record");
  std::ofstream(path, std::ios::binary) << stored;
  v1::ShardRecord read;
  return state_internal::ReadRecordFile(path, read).ok() &&
         read.SerializeAsString() == record.SerializeAsString();
}

Format RecordFiles() {
  const v1::ShardRecord record = Shard(v1::BACKEND_KIND_HEAP);
  return {"record_file",
          "a record under its checksum, the file MANIFEST.mayfly",
          {{"heap, no states yet", WriteRecord(record),
            [record](std::string_view stored) {
              return ReadsBack(stored, record);
            }}}};
}

Format ShardRecords() {
  v1::ShardRecord full = Shard(v1::BACKEND_KIND_ROCKSDB);
  *full.add_states() = Streak();
  *full.add_states() = Recent();
  *full.add_states() = Destinations();
  return {"shard_record",
          "mayfly.v1.ShardRecord, in the file MANIFEST.mayfly",
          {SampleOf("heap, no states yet", Shard(v1::BACKEND_KIND_HEAP)),
           SampleOf("rocksdb, a state of each kind", full)}};
}

Format StateRecords() {
  return {"state_record",
          "mayfly.v1.StateRecord",
          {SampleOf("value without TTL", Streak()),
           SampleOf("list, 3 h of event time", Recent()),
           SampleOf("map, infinite TTL after a shorter one", Destinations()),
           SampleOf("value, rewritten once", Rewritten())}};
}

Format CommitRecords() {
  return {"commit_record",
          "mayfly.v1.CommitRecord, under 'commit' in the default column family",
          {SampleOf("all at zero", v1::CommitRecord()),
           SampleOf("number 300 at 2001-01-01T01:07:00Z", Commit())}};
}

std::string PathTo(const std::string& name) { return kFolder + name + ".txt"; }

class StateGoldenTest : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    if (RegenerationAsked()) {
      std::ofstream(Path(), std::ios::binary) << Render(GetParam());
    }
  }
  std::string Path() const { return PathTo(GetParam().file); }
};

TEST_P(StateGoldenTest, IsWrittenByteForByte) {
  EXPECT_EQ(Render(GetParam()), ReadFile(Path()))
      << Path() << " is what older versions have written. If the format is "
      << "new, write it with MAYFLY_REGENERATE_GOLDEN=1.";
}

TEST_P(StateGoldenTest, IsRead) {
  const std::vector<std::string> stored = ParseSamples(ReadFile(Path()));
  ASSERT_EQ(stored.size(), GetParam().samples.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const Sample& sample = GetParam().samples[i];
    EXPECT_TRUE(sample.reads_back(stored[i])) << sample.label;
  }
}

INSTANTIATE_TEST_SUITE_P(V1, StateGoldenTest,
                         ::testing::Values(RecordFiles(), ShardRecords(),
                                           StateRecords(), CommitRecords()),
                         [](const auto& at) { return at.param.file; });

// --- Snapshots ---

// Each version of zstd may compress as it likes; the blocks are what must not
// change. The parts of each: tag, state and content.
std::vector<std::string> BlocksOf(std::string_view file) {
  std::vector<std::string> blocks = {std::string(file.substr(0, 8))};
  file.remove_prefix(8);
  constexpr std::size_t kTrailerBytes = 16;
  while (file.size() > kTrailerBytes) {
    std::uint32_t frame_bytes = 0;
    for (int i = 0; i < 4; ++i) {
      frame_bytes |= std::uint32_t{static_cast<unsigned char>(file[5 + i])}
                     << 8 * i;
    }
    std::string block(file.substr(0, 5));
    const std::string_view frame = file.substr(9, frame_bytes);
    std::string content(1 << 16, '\0');
    content.resize(ZSTD_decompress(content.data(), content.size(), frame.data(),
                                   frame.size()));
    blocks.push_back(block + content);
    file.remove_prefix(9 + frame_bytes);
  }
  return blocks;
}

v1::ShardRecord SnapshotRecord() {
  v1::ShardRecord record = Shard(v1::BACKEND_KIND_HEAP);
  *record.add_states() = Streak();
  *record.add_states() = Recent();
  return record;
}

const std::vector<std::pair<std::string, std::string>> kStreakEntries = {
    {"DTW", std::string("\0\0\0\0\0\0\0\7", 8)}, {"", ""}};
const std::vector<std::pair<std::string, std::string>> kRecentEntries = {
    {"ORD", std::string(300, 'x')}};

// A snapshot as the code writes it today.
std::string WriteSnapshot(const std::string& path) {
  SnapshotWriter writer =
      SnapshotWriter::Create(path, SnapshotRecord()).value();
  for (const auto& [key, value] : kStreakEntries) writer.Add(0, key, value);
  for (const auto& [key, value] : kRecentEntries) writer.Add(1, key, value);
  writer.Seal(Commit(), /*sync=*/false);
  if (!writer.Finish().ok()) std::abort();
  return ReadFile(path);
}

TEST(SnapshotGoldenTest, IsWrittenBlockByBlock) {
  const TempDirectory directory;
  const std::string written = WriteSnapshot(directory.Path("snapshot"));
  if (RegenerationAsked()) {
    std::ofstream(PathTo("snapshot"), std::ios::binary)
        << "# snapshot of the heap backend\n"
        << serde_test::Hex(written) << "  two states\n";
  }
  const std::vector<std::string> stored =
      ParseSamples(ReadFile(PathTo("snapshot")));
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(BlocksOf(written), BlocksOf(stored[0]));
}

TEST(SnapshotGoldenTest, IsRead) {
  const TempDirectory directory;
  const std::string path = directory.Path("snapshot");
  const std::vector<std::string> stored =
      ParseSamples(ReadFile(PathTo("snapshot")));
  ASSERT_EQ(stored.size(), 1u);
  std::ofstream(path, std::ios::binary) << stored[0];

  const auto reader = SnapshotReader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->record().SerializeAsString(),
            SnapshotRecord().SerializeAsString());
  EXPECT_EQ(reader->commit().SerializeAsString(), Commit().SerializeAsString());
  for (const auto& [state, expected] :
       {std::pair(0u, kStreakEntries), std::pair(1u, kRecentEntries)}) {
    std::vector<std::pair<std::string, std::string>> entries;
    ASSERT_TRUE(
        reader
            ->VisitEntries(state,
                           [&](std::string_view key, std::string_view value) {
                             entries.emplace_back(key, value);
                           })
            .ok());
    EXPECT_EQ(entries, expected);
  }
}

// A file that no test reads proves nothing.
TEST(StateGoldenFolder, HoldsOneFileForEachFormat) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    found.insert(entry.path().filename());
  }
  EXPECT_EQ(found, (std::set<std::string>{"commit_record.txt",
                                          "record_file.txt", "shard_record.txt",
                                          "snapshot.txt", "state_record.txt"}));
}

}  // namespace
}  // namespace mayfly::golden
