// State that is moved: into savepoint files, other backends, other numbers of
// shards.
#include "mayfly/state/savepoint.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

const Value kValue = Describe<Value>("value", Ttl(100));
const Value kPlain("plain");
const List kList = Describe<List>("list", Ttl(100));
const Map kMap = Describe<Map>("map", Ttl(100));

// Writes all states of a key.
void Write(Shard<>& shard, const std::string& key, const std::string& text) {
  shard->SetCurrentKey(key);
  Must(shard.Get(kValue).Update(text));
  Must(shard.Get(kPlain).Update(text));
  Must(shard.Get(kList).Add(text));
  Must(shard.Get(kMap).Put(text, text));
}

// All states of a key, in a form to compare.
std::string All(Shard<>& shard, const std::string& key) {
  shard->SetCurrentKey(key);
  std::string all = Read(shard.Get(kValue)).value_or("-") + "|" +
                    Read(shard.Get(kPlain)).value_or("-") + "|";
  for (const std::string& element : Read(shard.Get(kList))) all += element;
  all += "|";
  for (const auto& [map_key, value] : Read(shard.Get(kMap))) {
    all += map_key + value;
  }
  return all;
}

class SavepointTest
    : public ::testing::TestWithParam<std::tuple<BackendSetup, BackendSetup>> {
 protected:
  SavepointTest() : shard_(std::get<0>(GetParam()), /*now_ms=*/1000) {}

  std::string Path(const std::string& name) const {
    return directory_.Path(name);
  }

  // The committed shard as a savepoint.
  std::string Save(const std::string& name) {
    Must(shard_->Checkpoint(Path(name + "-checkpoint")).status());
    Must(WriteSavepoint(Path(name + "-checkpoint"), Path(name)).status());
    return Path(name);
  }

  BackendOptions Target(const std::string& name) const {
    BackendOptions options;
    options.kind = std::get<1>(GetParam()).kind;
    options.directory = Path(name);
    return options;
  }

  RestorePlan From(std::vector<std::string> sources, TimestampMs now_ms) {
    return {.sources = std::move(sources),
            .processing_clock = std::make_shared<ManualClock>(now_ms)};
  }

  // The restored directory, open.
  std::unique_ptr<Shard<>> Open(const std::string& name, TimestampMs now_ms) {
    auto shard = std::make_unique<Shard<>>(std::get<1>(GetParam()), now_ms);
    shard->options.directory = Path(name);
    shard->Reopen();
    return shard;
  }

  const TempDirectory directory_;
  Shard<> shard_;
};

INSTANTIATE_TEST_SUITE_P(FromTo, SavepointTest,
                         ::testing::Combine(::testing::Values(kHeap, kRocksdb),
                                            ::testing::Values(kHeap, kRocksdb)),
                         [](const auto& at) {
                           return std::string(std::get<0>(at.param).name) +
                                  "To" + std::get<1>(at.param).name;
                         });

TEST_P(SavepointTest, IsRestoredWithTimestampsClockAndPosition) {
  Write(shard_, "a", "1");
  shard_.clock().SetMs(1050);
  Write(shard_, "b", "2");
  shard_.Commit("position");
  const auto restored =
      RestoreShard(From({Save("save")}, 1060), Target("restored"));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(restored->keys_done, 8u);
  EXPECT_EQ(restored->keys_expired, 0u);
  const auto shard = Open("restored", 1060);
  EXPECT_EQ((*shard)->committed_position(), "position");
  EXPECT_EQ(All(*shard, "a"), "1|1|1|11");
  EXPECT_EQ(All(*shard, "b"), "2|2|2|22");
  EXPECT_EQ(All(*shard, "absent"), "-|-||");
  shard->clock().SetMs(1100);
  EXPECT_EQ(All(*shard, "a"), "-|1||");
  EXPECT_EQ(All(*shard, "b"), "2|2|2|22");
  // It can be written to, and committed, like any other.
  Write(*shard, "a", "3");
  shard->Commit("later");
  shard->Reopen();
  EXPECT_EQ(All(*shard, "a"), "3|3|3|33");
}

// Its clock does not go back either.
TEST_P(SavepointTest, Row134TheClockGoesOnWhereItStood) {
  Write(shard_, "a", "1");
  shard_.clock().SetMs(1099);
  shard_.Commit();
  Must(RestoreShard(From({Save("save")}, 0), Target("restored")).status());
  const auto shard = Open("restored", 0);
  EXPECT_EQ(All(*shard, "a"), "1|1|1|11");
  Write(*shard, "b", "2");
  shard->clock().SetMs(1100);
  EXPECT_EQ(All(*shard, "a"), "-|1||");
  EXPECT_EQ(All(*shard, "b"), "2|2|2|22");
}

TEST_P(SavepointTest, WhatHasExpiredIsNeverRestored) {
  Write(shard_, "a", "1");
  shard_.clock().SetMs(1050);
  Write(shard_, "b", "2");
  shard_->SetCurrentKey("b");
  shard_.Commit();
  // Between the commit and the restore `a` expires.
  const auto restored =
      RestoreShard(From({Save("save")}, 1100), Target("restored"));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(restored->keys_expired, 3u);
  const auto shard = Open("restored", 1100);
  EXPECT_EQ(All(*shard, "a"), "-|1||");
  EXPECT_EQ(shard->StoredEntries("value"), 1u);
  EXPECT_EQ(shard->StoredEntries("map"), 1u);
  EXPECT_EQ(shard->StoredEntries("list"), 1u);
  // Row 133: nothing comes back when the clock does.
  shard->clock().SetMs(1051);
  EXPECT_EQ(All(*shard, "a"), "-|1||");
}

// Of a list the expired elements go, wherever they are.
TEST_P(SavepointTest, ListsAreCutElementByElement) {
  shard_->SetCurrentKey("k");
  auto& list = shard_.Get(kList);
  Must(list.Add("old"));
  shard_.clock().SetMs(1050);
  Must(list.Add("young"));
  shard_.clock().SetMs(1000);
  Must(list.Add("young too"));
  shard_.Commit();
  Must(RestoreShard(From({Save("save")}, 1100), Target("restored")).status());
  const auto shard = Open("restored", 1100);
  (*shard)->SetCurrentKey("k");
  EXPECT_THAT(Read(shard->Get(kList)), ElementsAre("young", "young too"));
}

// With CleanupFullSnapshot() they are not even in the file, whoever may see
// them.
TEST_P(SavepointTest, Rows122And123CaseC64CleanedSnapshotsHoldNothingExpired) {
  const StateTtlConfig cleaned =
      TtlBuilder(100)
          .DisableCleanupInBackground()
          .SetStateVisibility(StateVisibility::kReturnExpiredIfNotCleanedUp)
          .CleanupFullSnapshot()
          .Build()
          .value();
  auto& map = shard_.Get(Describe<Map>("cleaned", cleaned));
  auto& kept = shard_.Get(Describe<Map>(
      "kept", TtlBuilder(100).DisableCleanupInBackground().Build().value()));
  for (int key = 0; key < 100; ++key) {
    shard_->SetCurrentKey(std::to_string(key));
    Must(map.Put("a", "1"));
    Must(kept.Put("a", "1"));
  }
  shard_.Commit();
  shard_.clock().SetMs(1200);
  shard_.Commit();
  Must(shard_->Checkpoint(Path("checkpoint")).status());
  const auto saved = WriteSavepoint(Path("checkpoint"), Path("save"));
  ASSERT_THAT(saved, IsOk());
  // On heap the commit has left them out already.
  const bool from_heap = std::get<0>(GetParam()).kind == BackendKind::kHeap;
  EXPECT_EQ(saved->keys_expired, from_heap ? 0u : 100u);
  const auto restored = RestoreShard(From({Path("save")}, 0), Target("there"));
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(restored->keys_done, 100u);
  EXPECT_EQ(restored->keys_expired, 100u);
}

// Row 140 and case C65.
TEST_P(SavepointTest, CaseC65EveryKeyIsInOneShardWhateverTheirNumber) {
  constexpr int kKeys = 1000;
  for (int key = 0; key < kKeys; ++key) {
    shard_.clock().SetMs(1000 + key % 50);
    Write(shard_, std::to_string(key), std::to_string(key));
  }
  shard_.clock().SetMs(1060);
  shard_.Commit("p");
  std::vector<std::string> sources = {Save("one")};
  for (const int shards : {3, 1, 7}) {
    std::vector<std::string> next;
    for (int i = 0; i < shards; ++i) {
      const std::string name = std::to_string(shards) + "-" + std::to_string(i);
      RestorePlan plan = From(sources, 1060);
      plan.shard = i;
      plan.shards = shards;
      plan.position = "p";
      Must(RestoreShard(plan, Target(name)).status());
      // A directory is as good a source as a file.
      next.push_back(Path(name));
    }
    int found = 0;
    for (int i = 0; i < shards; ++i) {
      const auto shard =
          Open(std::to_string(shards) + "-" + std::to_string(i), 1060);
      for (int key = 0; key < kKeys; ++key) {
        const std::string text = std::to_string(key);
        std::string bytes;
        Serializer<std::string>::Serialize(text, bytes);
        const bool here = PartitionForKey(bytes, shards) == i;
        ASSERT_EQ(All(*shard, text),
                  here ? text + "|" + text + "|" + text + "|" + text + text
                       : "-|-||");
        found += here ? 1 : 0;
      }
    }
    EXPECT_EQ(found, kKeys);
    sources = next;
  }
  // Timestamps are what they were: each key expires at its own time.
  const auto shard = Open("7-0", 1060);
  for (int key = 0; key < kKeys; ++key) {
    const std::string text = std::to_string(key);
    std::string bytes;
    Serializer<std::string>::Serialize(text, bytes);
    if (PartitionForKey(bytes, 7) != 0 || key % 50 != 49) continue;
    shard->clock().SetMs(1148);
    EXPECT_EQ(All(*shard, text),
              text + "|" + text + "|" + text + "|" + text + text);
    shard->clock().SetMs(1149);
    EXPECT_EQ(All(*shard, text), "-|" + text + "||");
    return;
  }
  FAIL() << "no key of shard 0 was written at 1049";
}

TEST_P(SavepointTest, CaseC70NothingAtAllIsRestored) {
  shard_.Commit("p");
  Must(RestoreShard(From({Save("save")}, 1000), Target("restored")).status());
  const auto shard = Open("restored", 1000);
  EXPECT_EQ((*shard)->committed_position(), "p");
  EXPECT_EQ(All(*shard, "a"), "-|-||");
  Write(*shard, "a", "1");
  shard->Commit();
  shard->Reopen();
  EXPECT_EQ(All(*shard, "a"), "1|1|1|11");
}

// More than fits into one sorted run of a loader, out of order from a heap.
TEST_P(SavepointTest, LargeStateIsSortedInRuns) {
  const std::string large(1 << 20, 'x');
  auto& plain = shard_.Get(kPlain);
  for (int key = 0; key < 150; ++key) {
    shard_->SetCurrentKey(std::to_string(key));
    Must(plain.Update(large + std::to_string(key)));
    if (key % 10 == 9) shard_.Commit();
  }
  Must(RestoreShard(From({Save("save")}, 1000), Target("restored")).status());
  const auto shard = Open("restored", 1000);
  for (int key = 0; key < 150; ++key) {
    (*shard)->SetCurrentKey(std::to_string(key));
    ASSERT_EQ(Read(shard->Get(kPlain)), large + std::to_string(key));
  }
}

TEST_P(SavepointTest, ATargetInUseIsRefusedAndKept) {
  Write(shard_, "a", "1");
  shard_.Commit();
  const std::string file = Save("save");
  fs::create_directories(Path("restored"));
  std::ofstream(Path("restored/precious")) << "data";
  EXPECT_THAT(
      RestoreShard(From({file}, 1000), Target("restored")),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr(Path("restored")), HasSubstr("not empty"))));
  EXPECT_TRUE(fs::exists(Path("restored/precious")));
}

TEST_P(SavepointTest, ADamagedSourceLeavesNothing) {
  Write(shard_, "a", "1");
  shard_.Commit();
  const std::string file = Save("save");
  {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2)) << "dam";
  }
  EXPECT_THAT(RestoreShard(From({file}, 1000), Target("restored")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(file)));
  EXPECT_FALSE(fs::exists(Path("restored")));
  EXPECT_FALSE(fs::exists(Path("restored.tmp")));
}

TEST_P(SavepointTest, WhatAKilledRestoreLeftIsReplaced) {
  Write(shard_, "a", "1");
  shard_.Commit();
  fs::create_directories(Path("restored.tmp/db"));
  std::ofstream(Path("restored.tmp/db/CURRENT")) << "half";
  Must(RestoreShard(From({Save("save")}, 1000), Target("restored")).status());
  EXPECT_EQ(All(*Open("restored", 1000), "a"), "1|1|1|11");
}

TEST_P(SavepointTest, StopsWhenAsked) {
  Write(shard_, "a", "1");
  shard_.Commit();
  Must(shard_->Checkpoint(Path("checkpoint")).status());
  const std::atomic<bool> stop = true;
  EXPECT_THAT(WriteSavepoint(Path("checkpoint"), Path("save"), {.stop = &stop}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(fs::exists(Path("save")));
  EXPECT_FALSE(fs::exists(Path("save.tmp")));
  EXPECT_THAT(RestoreShard(From({Path("checkpoint")}, 1000), Target("restored"),
                           {.stop = &stop}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(fs::exists(Path("restored")));
}

TEST_P(SavepointTest, StatesThatDifferAreNamed) {
  Write(shard_, "a", "1");
  shard_.Commit();
  const std::string file = Save("save");
  Shard<> other(std::get<0>(GetParam()));
  other->SetCurrentKey("b");
  Must(other.Get(Describe<Value>("value", Ttl(200))).Update("v"));
  other.Commit();
  Must(other->Checkpoint(Path("other")).status());
  RestorePlan plan = From({file, Path("other")}, 1000);
  plan.position = "";
  EXPECT_THAT(RestoreShard(plan, Target("restored")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("state 'value'"), HasSubstr(file),
                             HasSubstr(Path("other")))));
}

TEST_P(SavepointTest, NoFileIsOverwritten) {
  Write(shard_, "a", "1");
  shard_.Commit("p");
  const std::string file = Save("save");
  const auto bytes = fs::file_size(file);
  Write(shard_, "b", "2");
  shard_.Commit("q");
  Must(shard_->Checkpoint(Path("later")).status());
  EXPECT_THAT(WriteSavepoint(Path("later"), file),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(file), HasSubstr("there already"))));
  EXPECT_EQ(fs::file_size(file), bytes);
  EXPECT_THAT(WriteSavepoint(Path("later"), Path("another")), IsOk());
}

// While it is read nobody may write to it, and while somebody may, it is not
// read: RocksDB's log could be taken away in between.
TEST_P(SavepointTest, ADirectoryIsReadOnlyWhileNobodyHasItOpen) {
  Write(shard_, "a", "1");
  shard_.Commit("p");
  const std::string& directory = shard_.options.directory;
  const auto refused = StatusIs(
      absl::StatusCode::kFailedPrecondition,
      AllOf(HasSubstr(directory), HasSubstr("have it take a checkpoint")));
  EXPECT_THAT(WriteSavepoint(directory, Path("save")), refused);
  EXPECT_THAT(RestoreShard(From({directory}, 1000), Target("restored")),
              refused);
  EXPECT_FALSE(fs::exists(Path("save")));
  EXPECT_FALSE(fs::exists(Path("restored")));
  shard_.Close();
  absl::Status opened;
  EXPECT_THAT(WriteSavepoint(directory, Path("save"),
                             {.on_progress =
                                  [&](const TransferProgress&) {
                                    opened = shard_.TryReopen();
                                  }}),
              IsOk());
  EXPECT_THAT(opened, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("is being read")));
  EXPECT_THAT(RestoreShard(From({directory}, 1000), Target("restored")),
              IsOk());
  EXPECT_THAT(shard_.TryReopen(), IsOk());
}

TEST_P(SavepointTest, ThePositionIsThatOfTheSourcesIfTheyHaveOne) {
  const auto save = [&](const std::string& key, const std::string& position) {
    Shard<> shard(std::get<0>(GetParam()), /*now_ms=*/1000);
    Write(shard, key, key);
    shard.Commit(position);
    Must(shard->Checkpoint(Path(key)).status());
    return Path(key);
  };
  const std::string a = save("a", "p");
  const std::string b = save("b", "p");
  const std::string c = save("c", "q");
  Must(RestoreShard(From({a, b}, 1000), Target("both")).status());
  EXPECT_EQ((*Open("both", 1000))->committed_position(), "p");
  RestorePlan plan = From({a, b, c}, 1000);
  EXPECT_THAT(RestoreShard(plan, Target("all")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(a), HasSubstr(c),
                             HasSubstr("say which position"))));
  EXPECT_FALSE(fs::exists(Path("all")));
  plan.position = "r";
  Must(RestoreShard(plan, Target("all")).status());
  EXPECT_EQ((*Open("all", 1000))->committed_position(), "r");
}

TEST(NoSavepointTest, AnotherFileIsNotCalledDamaged) {
  const TempDirectory directory;
  const std::string file = directory.Path("notes");
  BackendOptions target;
  target.directory = directory.Path("restored");
  for (const std::string text : {"x", "MAYFLYR1", "some notes of last week"}) {
    std::ofstream(file) << text;
    EXPECT_THAT(RestoreShard({.sources = {file}}, target),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(file), HasSubstr("no savepoint"))))
        << text;
  }
  // What begins like one is one, however short.
  for (const std::string text : {"", "MAYF", "MAYFLYS1", "MAYFLYS1 and more"}) {
    std::ofstream(file) << text;
    EXPECT_THAT(RestoreShard({.sources = {file}}, target),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")))
        << text;
  }
}

TEST(SavepointOfNothingTest, SaysWhatIsMissing) {
  const TempDirectory directory;
  EXPECT_THAT(
      WriteSavepoint(directory.Path("none"), directory.Path("save")),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr(directory.Path("none"))));
  EXPECT_THAT(
      WriteSavepoint(directory.path(), directory.Path("save")),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no shard's directory")));
  for (const BackendSetup& setup : {kHeap, kRocksdb}) {
    Shard<> shard(setup);
    shard.Get(kValue);
    shard.Close();
    EXPECT_THAT(WriteSavepoint(shard.options.directory, directory.Path("save")),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("never been committed to")))
        << setup.name;
  }
}

TEST(RestorePlanTest, IsChecked) {
  const TempDirectory directory;
  BackendOptions target;
  target.directory = directory.Path("restored");
  EXPECT_THAT(RestoreShard({}, target),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sources is empty")));
  EXPECT_THAT(RestoreShard({.sources = {"a"}, .shard = 2, .shards = 2}, target),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got shard 2 of 2")));
  target.directory.clear();
  EXPECT_THAT(RestoreShard({.sources = {"a"}}, target),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("needs a directory")));
}

}  // namespace
}  // namespace mayfly::state_test
