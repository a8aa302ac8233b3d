// A savepoint, which is also what the heap backend commits.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/state.pb.h"
#include "state/snapshot_file.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/state_samples.h"
#include "tests/unit/serde/hex.h"

namespace mayfly::golden {
namespace {

using state_internal::SnapshotReader;
using state_internal::SnapshotWriter;

constexpr char kPath[] = MAYFLY_GOLDEN_SAVEPOINT;

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

TEST(SavepointGoldenTest, IsWrittenBlockByBlock) {
  const TempDirectory directory;
  const std::string written = WriteSnapshot(directory.Path("snapshot"));
  if (RegenerationAsked()) {
    std::ofstream(kPath, std::ios::binary)
        << "# savepoint of a shard\n"
        << serde_test::Hex(written) << "  two states\n";
  }
  const std::vector<std::string> stored = ParseSamples(ReadFile(kPath));
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(BlocksOf(written), BlocksOf(stored[0]));
}

TEST(SavepointGoldenTest, IsRead) {
  const TempDirectory directory;
  const std::string path = directory.Path("snapshot");
  const std::vector<std::string> stored = ParseSamples(ReadFile(kPath));
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

}  // namespace
}  // namespace mayfly::golden
