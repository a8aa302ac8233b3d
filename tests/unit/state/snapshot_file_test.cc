#include "state/snapshot_file.h"

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "state/snapshot_block.h"

namespace mayfly::state_internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Entries = std::vector<std::pair<std::string, std::string>>;

v1::ShardRecord Record() {
  v1::ShardRecord record;
  record.set_format_version(1);
  record.set_backend(v1::BACKEND_KIND_HEAP);
  record.add_states()->set_name("streak");
  record.add_states()->set_name("recent");
  record.add_states()->set_name("empty");
  return record;
}

v1::CommitRecord Commit() {
  v1::CommitRecord commit;
  commit.set_sequence(7);
  commit.set_processing_clock_ms(1'700'000'000'000);
  commit.set_position("line 42");
  return commit;
}

// All that a reader makes of a snapshot.
struct Contents {
  std::string record;
  std::string commit;
  std::vector<Entries> states;

  friend bool operator==(const Contents&, const Contents&) = default;
};

absl::StatusOr<Contents> ReadAll(const std::string& path) {
  const absl::StatusOr<SnapshotReader> reader = SnapshotReader::Open(path);
  if (!reader.ok()) return reader.status();
  if (absl::Status status = reader->Verify(); !status.ok()) return status;
  Contents contents{.record = reader->record().SerializeAsString(),
                    .commit = reader->commit().SerializeAsString(),
                    .states = {}};
  for (int i = 0; i < reader->record().states_size(); ++i) {
    Entries& entries = contents.states.emplace_back();
    const absl::Status status =
        reader->VisitEntries(static_cast<std::uint32_t>(i),
                             [&](std::string_view key, std::string_view value) {
                               entries.emplace_back(key, value);
                             });
    if (!status.ok()) return status;
  }
  return contents;
}

absl::Status Finish(SnapshotWriter& writer, const v1::CommitRecord& commit,
                    bool sync = false) {
  writer.Seal(commit, sync);
  return writer.Finish();
}

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void Spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class SnapshotFileTest : public ::testing::Test {
 protected:
  void WriteSmall(bool sync = false) {
    auto writer = SnapshotWriter::Create(path_, Record());
    ASSERT_THAT(writer, IsOk());
    writer->Add(0, "DTW", "one");
    writer->Add(0, "", "");
    writer->Add(1, std::string("a\0b", 3), "two");
    ASSERT_THAT(Finish(*writer, Commit(), sync), IsOk());
  }

  const TempDirectory directory_;
  const std::string path_ = directory_.Path("snapshot");
};

TEST_F(SnapshotFileTest, IsReadAsItWasWritten) {
  for (const bool sync : {false, true}) {
    WriteSmall(sync);
    const auto contents = ReadAll(path_);
    ASSERT_THAT(contents, IsOk());
    EXPECT_EQ(contents->record, Record().SerializeAsString());
    EXPECT_EQ(contents->commit, Commit().SerializeAsString());
    EXPECT_THAT(
        contents->states,
        ElementsAre(Entries{{"DTW", "one"}, {"", ""}},
                    Entries{{std::string("a\0b", 3), "two"}}, IsEmpty()));
    EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
  }
}

TEST_F(SnapshotFileTest, HoldsNoEntriesAtAll) {
  auto writer = SnapshotWriter::Create(path_, v1::ShardRecord());
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(Finish(*writer, v1::CommitRecord()), IsOk());
  EXPECT_THAT(ReadAll(path_), IsOkAndHolds(Contents()));
}

TEST_F(SnapshotFileTest, HoldsManyBlocksOfStatesInTurns) {
  auto writer = SnapshotWriter::Create(path_, Record());
  ASSERT_THAT(writer, IsOk());
  std::vector<Entries> expected(3);
  for (int i = 0; i < 30'000; ++i) {
    const auto state = static_cast<std::uint32_t>(i / 5000 % 2);
    const std::string key = std::to_string(i);
    const std::string value(static_cast<std::size_t>(i % 97), 'v');
    writer->Add(state, key, value);
    expected[state].emplace_back(key, value);
  }
  // Larger than a block, and incompressible.
  std::string large;
  std::uint32_t random = 1;
  for (int i = 0; i < 3'000'000; ++i) {
    random = random * 1'664'525 + 1'013'904'223;
    large.push_back(static_cast<char>(random >> 24));
  }
  writer->Add(2, "large", large);
  expected[2].emplace_back("large", large);
  ASSERT_THAT(Finish(*writer, Commit()), IsOk());
  const auto contents = ReadAll(path_);
  ASSERT_THAT(contents, IsOk());
  EXPECT_TRUE(contents->states == expected);
}

// As they do when states that are saved are changed meanwhile.
TEST_F(SnapshotFileTest, EntriesOfStatesInTurnsFillWholeBlocks) {
  const auto size_of = [&](bool in_turns) {
    auto writer = SnapshotWriter::Create(path_, Record());
    for (std::uint32_t i = 0; i < 2000; ++i) {
      writer->Add(in_turns ? i % 2 : i / 1000, std::to_string(i % 2), "value");
    }
    EXPECT_THAT(Finish(*writer, Commit()), IsOk());
    return std::filesystem::file_size(path_);
  };
  EXPECT_LT(size_of(/*in_turns=*/true), 2 * size_of(/*in_turns=*/false));
}

TEST_F(SnapshotFileTest, CarriesStatesOverFromAnotherSnapshot) {
  const std::string old_path = directory_.Path("old");
  Entries many;
  {
    auto old = SnapshotWriter::Create(old_path, Record());
    ASSERT_THAT(old, IsOk());
    for (int i = 0; i < 100'000; ++i) {
      many.emplace_back(std::to_string(i), std::to_string(-i));
      old->Add(1, many.back().first, many.back().second);
    }
    old->Add(2, "not", "carried");
    ASSERT_THAT(Finish(*old, Commit()), IsOk());
  }
  const absl::StatusOr<SnapshotReader> old = SnapshotReader::Open(old_path);
  ASSERT_THAT(old, IsOk());
  auto writer = SnapshotWriter::Create(path_, Record());
  ASSERT_THAT(writer, IsOk());
  writer->Add(0, "new", "entry");
  writer->CarryOver(1, *old);
  ASSERT_THAT(Finish(*writer, Commit()), IsOk());
  const auto contents = ReadAll(path_);
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(contents->states,
              ElementsAre(Entries{{"new", "entry"}}, many, IsEmpty()));
}

TEST_F(SnapshotFileTest, WhatCannotBeCarriedOverShowsInFinish) {
  const std::string old_path = directory_.Path("old");
  WriteSmall();
  const std::string before = Slurp(path_);
  Spill(old_path, before);
  const absl::StatusOr<SnapshotReader> old = SnapshotReader::Open(old_path);
  ASSERT_THAT(old, IsOk());
  Spill(old_path, before.substr(0, before.size() / 2));
  auto writer = SnapshotWriter::Create(path_, Record());
  ASSERT_THAT(writer, IsOk());
  writer->CarryOver(1, *old);
  EXPECT_THAT(Finish(*writer, Commit()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(old_path)));
  EXPECT_EQ(Slurp(path_), before);
}

TEST_F(SnapshotFileTest, ReplacesTheOldOneOnlyWhenItIsComplete) {
  WriteSmall();
  const std::string before = Slurp(path_);
  {
    auto abandoned = SnapshotWriter::Create(path_, Record());
    ASSERT_THAT(abandoned, IsOk());
    abandoned->Add(0, "new", "entry");
    EXPECT_TRUE(std::filesystem::exists(path_ + ".tmp"));
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
  EXPECT_EQ(Slurp(path_), before);
}

TEST_F(SnapshotFileTest, AFullDiskShowsInFinishAndLeavesTheOldOne) {
  WriteSmall();
  const std::string before = Slurp(path_);
  std::filesystem::create_symlink("/dev/full", path_ + ".tmp");
  auto writer = SnapshotWriter::Create(path_, Record());
  ASSERT_THAT(writer, IsOk());
  writer->Add(0, "key", "value");
  EXPECT_THAT(Finish(*writer, Commit()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr(path_ + ".tmp")));
  EXPECT_EQ(Slurp(path_), before);
}

TEST_F(SnapshotFileTest, WhatIsNotThereIsNotFound) {
  EXPECT_THAT(ReadAll(path_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path_)));
  EXPECT_THAT(
      SnapshotWriter::Create(directory_.Path("none/snapshot"), Record()),
      StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SnapshotFileTest, ADirectoryIsNoSnapshot) {
  EXPECT_THAT(ReadAll(directory_.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Is a directory")));
}

TEST_F(SnapshotFileTest, CutShortAnywhereIsDataLoss) {
  WriteSmall();
  const std::string bytes = Slurp(path_);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Spill(path_, bytes.substr(0, size));
    ASSERT_THAT(ReadAll(path_),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr(path_), HasSubstr("is damaged"))))
        << size;
  }
}

TEST_F(SnapshotFileTest, ContinuedIsDataLoss) {
  WriteSmall();
  Spill(path_, Slurp(path_) + std::string(1, '\0'));
  EXPECT_THAT(ReadAll(path_), StatusIs(absl::StatusCode::kDataLoss,
                                       HasSubstr("does not end like")));
}

// A flip may only go unnoticed where it changes nothing that is read.
TEST_F(SnapshotFileTest, AnyFlippedBitIsDataLossOrHarmless) {
  WriteSmall();
  const std::string bytes = Slurp(path_);
  const Contents contents = ReadAll(path_).value();
  std::size_t noticed = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    Spill(path_, flipped);
    const auto read = ReadAll(path_);
    if (read.ok()) {
      ASSERT_EQ(*read, contents) << "byte " << bit / 8 << " bit " << bit % 8;
    } else {
      ASSERT_THAT(read, StatusIs(absl::StatusCode::kDataLoss));
      ++noticed;
    }
  }
  EXPECT_GT(noticed, bytes.size() * 8 * 9 / 10);
}

// --- Files that a hostile hand has made ---

std::string LittleEndian(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i)
    bytes.push_back(static_cast<char>(value >> 8 * i));
  return bytes;
}

std::string Frame(std::string_view content) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(),
                             content.size(), 1));
  return frame;
}

// A block of the first state whose frame may be anything.
std::string RawBlock(char tag, const std::string& frame) {
  return std::string(1, tag) + LittleEndian(0) +
         LittleEndian(static_cast<std::uint32_t>(frame.size())) + frame;
}

std::string BlockOf(char tag, const std::string& content) {
  return RawBlock(tag, Frame(std::string(1, tag) + LittleEndian(0) + content));
}

std::string RecordBlock() { return BlockOf('R', Record().SerializeAsString()); }

std::string FooterBlock(const v1::SnapshotFooter& footer) {
  return BlockOf('F', footer.SerializeAsString());
}

// A footer that says what a file with one entry in one block says.
v1::SnapshotFooter FooterOfOne() {
  v1::SnapshotFooter footer;
  for (int i = 0; i < Record().states_size(); ++i) footer.add_states();
  footer.mutable_states(0)->set_entries(1);
  footer.mutable_states(0)->set_bytes(2);
  footer.mutable_states(0)->add_blocks(8 + RecordBlock().size());
  return footer;
}

// A whole file; its end points to `footer`, wherever that leads.
std::string FileOf(const std::string& blocks, const std::string& footer) {
  const std::string head = std::string(SnapshotHeader()) + blocks;
  return head + footer + SnapshotTrailer(head.size());
}

const std::string kEntry("\1k\1v", 4);

TEST_F(SnapshotFileTest, TheHostileHandCanMakeAGoodFile) {
  Spill(path_, FileOf(RecordBlock() + BlockOf('E', kEntry),
                      FooterBlock(FooterOfOne())));
  const auto contents = ReadAll(path_);
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(contents->states,
              ElementsAre(Entries{{"k", "v"}}, IsEmpty(), IsEmpty()));
}

TEST_F(SnapshotFileTest, ALengthBeyondTheFileIsDataLossAndAllocatesLittle) {
  Spill(path_, FileOf("R" + LittleEndian(0) + LittleEndian(0xFFFFFFFF), "f"));
  EXPECT_THAT(ReadAll(path_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
}

TEST_F(SnapshotFileTest, ABlockThatIsNoFrameIsDataLoss) {
  for (const std::string& frame :
       {std::string(), std::string("no zstd frame"), Frame("x") + "more"}) {
    Spill(path_, FileOf(RawBlock('R', frame), FooterBlock(FooterOfOne())));
    EXPECT_THAT(ReadAll(path_), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(SnapshotFileTest, AHeaderThatBeliesItsBlockIsDataLoss) {
  std::string entries = BlockOf('E', kEntry);
  entries[1] = 1;  // Another state's.
  Spill(path_, FileOf(RecordBlock() + entries, FooterBlock(FooterOfOne())));
  EXPECT_THAT(ReadAll(path_), StatusIs(absl::StatusCode::kDataLoss,
                                       HasSubstr("not what its header says")));
}

TEST_F(SnapshotFileTest, AnEntryLongerThanItsBlockIsDataLoss) {
  for (const std::string entry :
       {"\x7f", "\x01", "\x01k\x05v", "\xff\xff\xff\xff\x0f"}) {
    Spill(path_, FileOf(RecordBlock() + BlockOf('E', entry),
                        FooterBlock(FooterOfOne())));
    EXPECT_THAT(ReadAll(path_), StatusIs(absl::StatusCode::kDataLoss,
                                         HasSubstr("has no framing")));
  }
}

TEST_F(SnapshotFileTest, BlocksOutOfOrderAreDataLoss) {
  const std::string entries = BlockOf('E', kEntry);
  const std::string footer = FooterBlock(FooterOfOne());
  for (const std::string& bytes :
       {FileOf("", ""), FileOf("", footer), FileOf(RecordBlock(), ""),
        FileOf(RecordBlock(), RecordBlock()),
        FileOf(RecordBlock() + entries, footer + footer),
        FileOf(RecordBlock() + footer + entries, footer),
        FileOf(entries + RecordBlock(), footer)}) {
    Spill(path_, bytes);
    EXPECT_THAT(ReadAll(path_), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(SnapshotFileTest, AFooterThatBeliesTheFileIsDataLoss) {
  const std::string blocks = RecordBlock() + BlockOf('E', kEntry);
  const auto with = [&](auto change) {
    v1::SnapshotFooter footer = FooterOfOne();
    change(*footer.mutable_states(0));
    return FileOf(blocks, FooterBlock(footer));
  };
  v1::SnapshotFooter fewer = FooterOfOne();
  fewer.mutable_states()->RemoveLast();
  for (const std::string& bytes :
       {with([](v1::SnapshotState& state) { state.set_entries(2); }),
        with([](v1::SnapshotState& state) { state.set_bytes(3); }),
        with([](v1::SnapshotState& state) { state.clear_blocks(); }),
        with([](v1::SnapshotState& state) { state.set_blocks(0, 9); }),
        with([](v1::SnapshotState& state) { state.add_blocks(1 << 30); }),
        FileOf(blocks, FooterBlock(fewer))}) {
    Spill(path_, bytes);
    EXPECT_THAT(ReadAll(path_), StatusIs(absl::StatusCode::kDataLoss));
  }
  // Who does not verify first finds out when it is read.
  Spill(path_, with([](v1::SnapshotState& state) {
          state.set_blocks(0, SnapshotHeader().size());
        }));
  const auto reader = SnapshotReader::Open(path_);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(
      reader->VisitEntries(0, [](std::string_view, std::string_view) {}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not where its footer")));
}

}  // namespace
}  // namespace mayfly::state_internal
