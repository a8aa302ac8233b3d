// What can be seen of stored state without the program that wrote it.
#include "mayfly/state/inspect.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/maintenance.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

// Nothing is cleaned up, so that it is there to be counted.
StateTtlConfig Kept() {
  return TtlBuilder(100).DisableCleanupInBackground().Build().value();
}

class InspectTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // Two keys: one written at 1000, one at 1050; committed at 1060.
  InspectTest() : shard_(GetParam(), /*now_ms=*/1000) {
    Write("old");
    shard_.clock().SetMs(1050);
    Write("new");
    shard_.clock().SetMs(1060);
    shard_.Commit("position");
    Must(shard_->Checkpoint(directory()).status());
  }

  void Write(const std::string& key) {
    shard_->SetCurrentKey(key);
    Must(shard_.Get(Value("plain")).Update("v"));
    Must(shard_.Get(Describe<Value>("value", Kept())).Update("v"));
    Must(shard_.Get(Describe<List>("list", Kept())).AddAll({"a", "bc"}));
    Must(shard_.Get(Describe<Map>("map", Kept())).Put("mk", "mv"));
  }

  std::string directory() const { return files_.Path("checkpoint"); }

  InspectedState State(const std::string& name, const InspectOptions& options) {
    const InspectedShard shard = InspectShard(directory(), options).value();
    for (const InspectedState& state : shard.states) {
      if (state.name == name) return state;
    }
    ADD_FAILURE() << "no state " << name;
    return {};
  }

  const TempDirectory files_;
  Shard<> shard_;
};

INSTANTIATE_TEST_SUITE_P(Backends, InspectTest, BothBackends(), SetupName);

TEST_P(InspectTest, TellsWhatTheShardIs) {
  const auto shard = InspectShard(directory());
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->backend,
            GetParam().kind == BackendKind::kHeap ? "heap" : "rocksdb");
  EXPECT_EQ(shard->commit, 1u);
  EXPECT_EQ(shard->processing_clock_ms, 1060);
  EXPECT_EQ(shard->position, "position");
  EXPECT_THAT(shard->states, SizeIs(4));
  const InspectedState map = State("map", {});
  EXPECT_EQ(map.kind, "map");
  EXPECT_EQ(map.key_serializer, "string@1");
  EXPECT_EQ(map.map_key_serializer, "string@1");
  EXPECT_EQ(map.value_serializer, "string@1");
  EXPECT_EQ(map.ttl_ms, 100);
  EXPECT_EQ(State("plain", {}).ttl_ms, std::nullopt);
}

TEST_P(InspectTest, CountsWhatLivesAndWhatHasExpired) {
  const InspectedState then = State("list", {});
  EXPECT_EQ(then.keys, 2u);
  EXPECT_EQ(then.live_entries, 4u);
  EXPECT_EQ(then.expired_entries, 0u);
  EXPECT_EQ(then.oldest_ms, 1000);
  EXPECT_EQ(then.newest_ms, 1050);
  const InspectOptions later{.processing_now_ms = 1100};
  EXPECT_EQ(State("list", later).expired_entries, 2u);
  EXPECT_EQ(State("value", later).live_entries, 1u);
  EXPECT_EQ(State("value", later).expired_entries, 1u);
  // Key, timestamp and value of `old`; both keys have as many bytes.
  EXPECT_EQ(State("value", later).bytes, 2u * (3 + 8 + 1));
  EXPECT_EQ(State("value", later).expired_bytes, 3u + 8 + 1);
  EXPECT_EQ(State("map", later).bytes, 2u * (1 + 3 + 2 + 8 + 2));
  EXPECT_EQ(State("map", later).expired_bytes, 1u + 3 + 2 + 8 + 2);
  EXPECT_EQ(State("list", later).bytes, 2u * (3 + 12 + 1 + 12 + 2));
  EXPECT_EQ(State("list", later).expired_bytes, 3u + 12 + 1 + 12 + 2);
  EXPECT_EQ(State("plain", later).live_entries, 2u);
  // A time before the commit's is none.
  EXPECT_EQ(State("value", {.processing_now_ms = 0}).live_entries, 2u);
}

TEST_P(InspectTest, TellsWhatWillExpireWhen) {
  using std::chrono::milliseconds;
  const InspectedState value = State(
      "value", {.expired_in = {milliseconds(0), milliseconds(1'000'000)}});
  EXPECT_THAT(value.expired_in, ElementsAre(0u, value.bytes));
  const InspectedState list =
      State("list", {.expired_in = {milliseconds(1'000'000)}});
  EXPECT_THAT(list.expired_in, ElementsAre(list.bytes));
  EXPECT_THAT(State("plain", {.expired_in = {milliseconds(0)}}).expired_in,
              IsEmpty());
}

TEST_P(InspectTest, FindsTheEntriesOfAKey) {
  const InspectOptions later{.processing_now_ms = 1100};
  const auto map = InspectKey(directory(), "map", "old", later);
  ASSERT_THAT(map, IsOkAndHolds(SizeIs(1)));
  EXPECT_EQ(map->front().map_key, "mk");
  EXPECT_EQ(map->front().value, "mv");
  EXPECT_EQ(map->front().timestamp_ms, 1000);
  EXPECT_EQ(map->front().expires_ms, 1100);
  EXPECT_TRUE(map->front().expired);
  const auto list = InspectKey(directory(), "list", "new", later);
  ASSERT_THAT(list, IsOkAndHolds(SizeIs(2)));
  EXPECT_EQ((*list)[1].value, "bc");
  EXPECT_FALSE((*list)[1].expired);
  const auto plain = InspectKey(directory(), "plain", "old");
  ASSERT_THAT(plain, IsOkAndHolds(SizeIs(1)));
  EXPECT_EQ(plain->front().timestamp_ms, std::nullopt);
  EXPECT_EQ(plain->front().expires_ms, std::nullopt);
  EXPECT_THAT(InspectKey(directory(), "map", "none"), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(
      InspectKey(directory(), "none", "old"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no state 'none'")));
}

// The key of a list is there as long as any element is.
TEST_P(InspectTest, TheKeyOfAListGoesWithItsNewestElement) {
  using std::chrono::milliseconds;
  shard_->SetCurrentKey("key");
  auto& list = shard_.Get(Describe<List>("three", Kept()));
  Must(list.Add("a", milliseconds(120)));
  Must(list.Add("b", milliseconds(140)));
  Must(list.Add("c", milliseconds(130)));
  shard_.Commit();
  Must(shard_->Checkpoint(files_.Path("later")).status());
  const auto expired_bytes = [&](TimestampMs now_ms) {
    const InspectedShard shard =
        InspectShard(files_.Path("later"), {.processing_now_ms = now_ms})
            .value();
    return std::ranges::find(shard.states, "three", &InspectedState::name)
        ->expired_bytes;
  };
  EXPECT_EQ(expired_bytes(1060 + 119), 0u);
  EXPECT_EQ(expired_bytes(1060 + 120), 13u);
  EXPECT_EQ(expired_bytes(1060 + 130), 26u);
  EXPECT_EQ(expired_bytes(1060 + 140), 39u + 3);
  const auto entries = InspectKey(files_.Path("later"), "three", "key");
  ASSERT_THAT(entries, IsOkAndHolds(SizeIs(3)));
  // A life of its own is stored as a time ahead.
  EXPECT_EQ((*entries)[1].timestamp_ms, 1060 + 40);
  EXPECT_EQ((*entries)[1].expires_ms, 1060 + 140);
}

TEST_P(InspectTest, ASavepointShowsTheSame) {
  Must(WriteSavepoint(directory(), files_.Path("save")).status());
  const auto shard = InspectShard(files_.Path("save"));
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->position, "position");
  EXPECT_THAT(shard->states, SizeIs(4));
  EXPECT_THAT(InspectKey(files_.Path("save"), "map", "old"),
              IsOkAndHolds(SizeIs(1)));
}

TEST_P(InspectTest, ChangesNothing) {
  std::map<std::string, fs::file_time_type> before;
  for (const auto& entry : fs::recursive_directory_iterator(directory())) {
    before[entry.path()] = entry.last_write_time();
  }
  ASSERT_THAT(InspectShard(directory()), IsOk());
  ASSERT_THAT(VerifyShard(directory()), IsOk());
  std::map<std::string, fs::file_time_type> after;
  for (const auto& entry : fs::recursive_directory_iterator(directory())) {
    after[entry.path()] = entry.last_write_time();
  }
  EXPECT_EQ(before, after);
}

// A shard that is open may be looked into, too.
TEST_P(InspectTest, AShardAtWorkShowsItsLastCommit) {
  shard_->SetCurrentKey("third");
  Must(shard_.Get(Value("plain")).Update("v"));
  const auto shard = InspectShard(shard_.options.directory);
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->commit, 1u);
}

TEST_P(InspectTest, FindsAnyDamagedFile) {
  ASSERT_THAT(VerifyShard(directory()), IsOk());
  int damaged = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory())) {
    // What RocksDB writes down for people, and the log, of which a cut end is
    // what a crash leaves.
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name.starts_with("OPTIONS") ||
        name.ends_with(".log")) {
      continue;
    }
    std::fstream file(entry.path(),
                      std::ios::in | std::ios::out | std::ios::binary);
    const auto middle = static_cast<std::streamoff>(entry.file_size() / 2);
    file.seekg(middle);
    const char byte = static_cast<char>(file.get());
    file.seekp(middle).put(static_cast<char>(byte ^ 0x10));
    file.close();
    EXPECT_FALSE(VerifyShard(directory()).ok()) << entry.path();
    file.open(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(middle).put(byte);
    file.close();
    ++damaged;
  }
  EXPECT_GE(damaged, 2);
  EXPECT_THAT(VerifyShard(directory()), IsOk());
}

TEST(VerifyTest, AnEntryThatCannotBeReadIsDataLoss) {
  Shard<> shard(kRocksdb);
  shard.Get(Describe<Value>("value", Kept()));
  shard.Commit();
  shard.Close();
  {
    RawDatabase raw(shard.options.directory, RawDatabase::Access::kWrite);
    raw.Put("value", "k", "short");
  }
  EXPECT_THAT(VerifyShard(shard.options.directory),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("1 of 1")));
  EXPECT_EQ(InspectShard(shard.options.directory)->states[0].unreadable, 1u);
}

TEST(CompactShardTest, HasWhatHasExpiredLeaveTheDisk) {
  Shard<> shard(kRocksdb);
  const Value value = Describe<Value>("value", Ttl(100));
  shard->SetCurrentKey("k");
  Must(shard.Get(value).Update("v"));
  shard.Commit();
  shard.clock().SetMs(100);
  shard.Commit();
  EXPECT_THAT(CompactShard(shard.options.directory),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  shard.Close();
  EXPECT_EQ(InspectShard(shard.options.directory)->states[0].keys, 1u);
  EXPECT_THAT(CompactShard(shard.options.directory), IsOk());
  EXPECT_EQ(InspectShard(shard.options.directory)->states[0].keys, 0u);
  const TempDirectory nothing;
  EXPECT_THAT(CompactShard(nothing.path()),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace mayfly::state_test
