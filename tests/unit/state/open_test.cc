// Directories that cannot be opened: each says why and what to do, and nothing
// in them is touched.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/v1/state.pb.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

namespace fs = std::filesystem;
using state_internal::ReadRecordFile;
using state_internal::WriteRecordFile;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

std::string Slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void Spill(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class OpenTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // A shard with something in it, closed.
  void Fill() {
    auto& state = shard_.Get(Describe<Value>("value", Ttl(1000)));
    shard_->SetCurrentKey("k");
    Must(state.Update("v"));
    shard_.Commit("p");
    shard_.Close();
  }

  void ExpectAsFilled() {
    shard_.Reopen();
    EXPECT_EQ(shard_->committed_position(), "p");
    auto& state = shard_.Get(Describe<Value>("value", Ttl(1000)));
    shard_->SetCurrentKey("k");
    EXPECT_EQ(Read(state), "v");
  }

  std::string Path(const std::string& name) const {
    return shard_.options.directory + "/" + name;
  }

  // What holds data: RocksDB keeps logs of its own beside them.
  std::map<std::string, std::string> DataFiles() const {
    std::map<std::string, std::string> files;
    for (const auto& entry :
         fs::recursive_directory_iterator(shard_.options.directory)) {
      const std::string name = entry.path().filename();
      if (!entry.is_regular_file() || name.starts_with("LOG") ||
          name == "LOCK") {
        continue;
      }
      files[entry.path()] = Slurp(entry.path());
    }
    return files;
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Backends, OpenTest, BothBackends(), SetupName);

TEST_P(OpenTest, ADirectoryInUseIsRefused) {
  Shard<> other(GetParam());
  other.options.directory = shard_.options.directory;
  EXPECT_THAT(other.TryReopen(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'" + shard_.options.directory +
                                       "' is in use by process"),
                             HasSubstr("stop it first"))));
  shard_.Close();
  EXPECT_THAT(other.TryReopen(), IsOk());
}

TEST_P(OpenTest, TheOtherBackendsDirectoryIsRefused) {
  Fill();
  const auto files = DataFiles();
  shard_.options.kind = GetParam().kind == BackendKind::kHeap
                            ? BackendKind::kRocksdb
                            : BackendKind::kHeap;
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("was written by the"),
                             HasSubstr("start with the old backend"))));
  EXPECT_EQ(DataFiles(), files);
  shard_.options.kind = GetParam().kind;
  ExpectAsFilled();
}

TEST_P(OpenTest, ANewerVersionsDirectoryIsRefused) {
  Fill();
  const std::string bytes = Slurp(Path("MANIFEST.mayfly"));
  v1::ShardRecord record;
  ASSERT_THAT(ReadRecordFile(Path("MANIFEST.mayfly"), record), IsOk());
  record.set_format_version(999);
  Must(WriteRecordFile(Path("MANIFEST.mayfly"), record, /*sync=*/false));
  const auto files = DataFiles();
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("newer version of Mayfly (format 999")));
  EXPECT_EQ(DataFiles(), files);
  Spill(Path("MANIFEST.mayfly"), bytes);
  ExpectAsFilled();
}

TEST_P(OpenTest, ADamagedOrMissingRecordIsDataLoss) {
  Fill();
  const std::string bytes = Slurp(Path("MANIFEST.mayfly"));
  for (const std::string& damaged :
       {std::string(), std::string("damaged"), std::string(100, '\xff')}) {
    Spill(Path("MANIFEST.mayfly"), damaged);
    const auto files = DataFiles();
    EXPECT_THAT(shard_.TryReopen(),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr(Path("MANIFEST.mayfly")),
                               HasSubstr("restore"))));
    EXPECT_EQ(DataFiles(), files);
  }
  fs::remove(Path("MANIFEST.mayfly"));
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is missing")));
  Spill(Path("MANIFEST.mayfly"), bytes);
  ExpectAsFilled();
}

TEST_P(OpenTest, AFileInsteadOfADirectoryIsNamed) {
  Fill();
  shard_.options.directory = Path("MANIFEST.mayfly");
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'" + shard_.options.directory + "'")));
}

TEST_P(OpenTest, ADirectoryThatCannotBeMadeIsNamed) {
  shard_.options.directory = "/proc/mayfly/shard";
  EXPECT_THAT(shard_.TryReopen(), Not(IsOk()));
  EXPECT_THAT(shard_.TryReopen().message(), HasSubstr("/proc/mayfly"));
}

// --- Damage to what only one backend has ---

class HeapOpenTest : public OpenTest {};
INSTANTIATE_TEST_SUITE_P(Heap, HeapOpenTest, ::testing::Values(kHeap),
                         SetupName);

TEST_P(HeapOpenTest, ADamagedSnapshotIsDataLoss) {
  Fill();
  const std::string bytes = Slurp(Path("snapshot"));
  for (const std::size_t size : {std::size_t{0}, bytes.size() / 2}) {
    Spill(Path("snapshot"), bytes.substr(0, size));
    const auto files = DataFiles();
    EXPECT_THAT(shard_.TryReopen(), StatusIs(absl::StatusCode::kDataLoss,
                                             HasSubstr(Path("snapshot"))));
    EXPECT_EQ(DataFiles(), files);
  }
  Spill(Path("snapshot"), bytes);
  ExpectAsFilled();
}

TEST_P(HeapOpenTest, ALostSnapshotIsDataLossAndNotAFreshStart) {
  Fill();
  fs::rename(Path("snapshot"), Path("elsewhere"));
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("has been committed to"),
                             HasSubstr("restore"))));
  fs::rename(Path("elsewhere"), Path("snapshot"));
  ExpectAsFilled();
}

TEST_P(HeapOpenTest, CaseC67AHalfWrittenSnapshotIsNotTheSnapshot) {
  Fill();
  Spill(Path("snapshot.tmp"), Slurp(Path("snapshot")).substr(0, 20));
  ExpectAsFilled();
  shard_.Commit("p");
  EXPECT_FALSE(fs::exists(Path("snapshot.tmp")));
  shard_.Close();
  ExpectAsFilled();
}

class RocksdbOpenTest : public OpenTest {};
INSTANTIATE_TEST_SUITE_P(Rocksdb, RocksdbOpenTest, ::testing::Values(kRocksdb),
                         SetupName);

TEST_P(RocksdbOpenTest, ADatabaseWithoutItsRootIsDataLossAndStaysAsItIs) {
  Fill();
  const std::string current = Slurp(Path("db/CURRENT"));
  Spill(Path("db/CURRENT"), "");
  auto files = DataFiles();
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(Path("db")), HasSubstr("restore"))));
  EXPECT_EQ(DataFiles(), files);

  // Without the file at all RocksDB would take the directory for a new one.
  fs::remove(Path("db/CURRENT"));
  files = DataFiles();
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(Path("db")), HasSubstr("restore"))));
  EXPECT_EQ(DataFiles(), files);

  Spill(Path("db/CURRENT"), current);
  ExpectAsFilled();
}

TEST_P(RocksdbOpenTest, ALostDatabaseIsDataLossAndNotAFreshOne) {
  Fill();
  fs::rename(Path("db"), Path("elsewhere"));
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(Path("db"))));
  fs::remove_all(Path("db"));
  fs::rename(Path("elsewhere"), Path("db"));
  ExpectAsFilled();
}

TEST_P(RocksdbOpenTest, AStateThatTheRecordDoesNotKnowIsDataLoss) {
  Fill();
  v1::ShardRecord record;
  const std::string bytes = Slurp(Path("MANIFEST.mayfly"));
  ASSERT_THAT(ReadRecordFile(Path("MANIFEST.mayfly"), record), IsOk());
  record.mutable_states(0)->set_name("renamed");
  Must(WriteRecordFile(Path("MANIFEST.mayfly"), record, /*sync=*/false));
  EXPECT_THAT(shard_.TryReopen(), StatusIs(absl::StatusCode::kDataLoss,
                                           AllOf(HasSubstr("state 'value'"),
                                                 HasSubstr("restore"))));
  Spill(Path("MANIFEST.mayfly"), bytes);
  ExpectAsFilled();
}

// A crash between recording a state and making its column family.
TEST_P(RocksdbOpenTest, AStateThatOnlyTheRecordKnowsIsMade) {
  Fill();
  v1::ShardRecord record;
  ASSERT_THAT(ReadRecordFile(Path("MANIFEST.mayfly"), record), IsOk());
  v1::StateRecord* const state = record.add_states();
  *state = record.states(0);
  state->set_name("made");
  Must(WriteRecordFile(Path("MANIFEST.mayfly"), record, /*sync=*/false));
  shard_.Reopen();
  auto& made = shard_.Get(Describe<Value>("made", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(made), std::nullopt);
  Must(made.Update("v"));
  shard_.Commit("p");
  shard_.Close();
  ExpectAsFilled();
}

TEST_P(RocksdbOpenTest, AStateThatTheLastCommitFoundAndIsLostIsDataLoss) {
  Fill();
  v1::CommitRecord commit;
  {
    RawDatabase raw(shard_.options.directory, RawDatabase::Access::kWrite);
    ASSERT_TRUE(commit.ParseFromString(raw.Get("default", "commit")));
    commit.add_states("lost");
    raw.Put("default", "commit", commit.SerializeAsString());
  }
  EXPECT_THAT(shard_.TryReopen(), StatusIs(absl::StatusCode::kDataLoss,
                                           AllOf(HasSubstr("lost state 'lost'"),
                                                 HasSubstr("restore"))));
}

TEST_P(RocksdbOpenTest, ACommitRecordThatDoesNotDecodeIsDataLoss) {
  Fill();
  RawDatabase(shard_.options.directory, RawDatabase::Access::kWrite)
      .Put("default", "commit", "\xff\xff");
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("record of the last commit")));
}

// --- Case C62: entries that somebody else has written, or a fault ---

TEST_P(RocksdbOpenTest, CaseC62ADamagedValueIsDataLossAtItsKeyAlone) {
  Fill();
  const std::string stamp("\0\0\0\0\0\0\0\1", 8);
  {
    RawDatabase raw(shard_.options.directory, RawDatabase::Access::kWrite);
    raw.Put("value", "0 bytes", "");
    raw.Put("value", "7 bytes", std::string(7, '\1'));
    raw.Put("value", "8 bytes", stamp);
    raw.Put("value", "9 bytes", stamp + "x");
    raw.Put("value", "negative", std::string(9, '\xff'));
  }
  shard_.Reopen();
  auto& state = shard_.Get(Describe<Value>("value", Ttl(1000)));
  for (int compactions = 0; compactions < 2; ++compactions) {
    for (const char* const key : {"0 bytes", "7 bytes", "negative"}) {
      shard_->SetCurrentKey(key);
      EXPECT_THAT(state.Value(),
                  StatusIs(absl::StatusCode::kDataLoss,
                           AllOf(HasSubstr("state 'value', key 0x"),
                                 HasSubstr("clear the key"))))
          << key;
    }
    shard_->SetCurrentKey("8 bytes");
    EXPECT_EQ(Read(state),
              compactions == 0 ? std::optional<std::string>("") : std::nullopt);
    shard_->SetCurrentKey("9 bytes");
    EXPECT_EQ(Read(state), compactions == 0 ? std::optional<std::string>("x")
                                            : std::nullopt);
    shard_.clock().SetMs(1001);
    shard_.Commit();
    Must(shard_->Compact());
  }
  // The way out that the message names.
  shard_->SetCurrentKey("0 bytes");
  EXPECT_THAT(state.Clear(), IsOk());
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(RocksdbOpenTest, CaseC62ADamagedListOrMapEntryIsDataLoss) {
  shard_.Get(Describe<List>("list", Ttl(1000)));
  shard_.Get(Describe<Map>("map", Ttl(1000)));
  shard_.Commit();
  shard_.Close();
  const std::string stamp("\0\0\0\0\0\0\0\1", 8);
  {
    RawDatabase raw(shard_.options.directory, RawDatabase::Access::kWrite);
    raw.Put("list", "k", stamp + std::string("\xff\0\0\0", 4) + "short");
    raw.Put("map", "\x01km", "short");
    raw.Put("map", "\x01kn", stamp + "fine");
    raw.Put("map",
            "\x7f"
            "no framing",
            stamp + "fine");
  }
  shard_.Reopen();
  auto& list = shard_.Get(Describe<List>("list", Ttl(1000)));
  auto& map = shard_.Get(Describe<Map>("map", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_THAT(list.Get(),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("state 'list', key 0x6b: the stored list")));
  EXPECT_THAT(map.Get("m"), StatusIs(absl::StatusCode::kDataLoss,
                                     HasSubstr("state 'map', key 0x016b6d")));
  EXPECT_EQ(Read(map, std::string("n")), "fine");
  EXPECT_THAT(map.Entries(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(map.IsEmpty(), StatusIs(absl::StatusCode::kDataLoss));
  // They can be cleared, and what is added to a list that cannot be read is
  // not lost with it.
  EXPECT_THAT(list.Clear(), IsOk());
  EXPECT_THAT(map.Clear(), IsOk());
  shard_.Commit();
  EXPECT_TRUE(Read(list).empty());
  EXPECT_TRUE(Read(map).empty());
}

}  // namespace
}  // namespace mayfly::state_test
