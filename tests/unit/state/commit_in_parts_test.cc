// Commits that are begun and finished apart: what changes between the two is
// none of theirs.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;
using Sum = ReducingStateDescriptor<std::int64_t>;
using Joined =
    AggregatingStateDescriptor<std::string, std::string, std::string>;

Sum SumOf(std::string name) {
  Sum sum(std::move(name),
          [](const std::int64_t& a, const std::int64_t& b) { return a + b; });
  sum.EnableTimeToLive(Ttl(1000));
  return sum;
}

Joined JoinedBy(std::string name) {
  Joined joined(
      std::move(name),
      {.create_accumulator = [] { return std::string(); },
       .add = [](const std::string& in,
                 std::string& accumulator) { accumulator += in; },
       .get_result =
           [](const std::string& accumulator) { return accumulator; }});
  joined.EnableTimeToLive(Ttl(1000));
  return joined;
}

// What the states hold at one key.
using Contents =
    std::tuple<std::optional<std::string>, std::vector<std::string>,
               std::map<std::string, std::string>, std::optional<std::int64_t>,
               std::optional<std::string>>;

// A state of each kind. Their tables are saved last: before them comes one that
// some hundred records do not pay for.
class CommitInPartsTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  static constexpr int kFillers = 7000;
  static constexpr int kKeys = 40;

  CommitInPartsTest() {
    Register();
    for (int i = 0; i < kFillers; ++i) {
      shard_->SetCurrentKey("filler" + std::to_string(i));
      Must(filler_->Update("filler"));
    }
    for (int i = 0; i < kKeys; ++i) {
      shard_->SetCurrentKey(std::to_string(i));
      Must(value_->Update("old"));
      Must(list_->AddAll({"old", "older"}));
      Must(map_->Put("a", "old"));
      Must(map_->Put("b", "old"));
      Must(sum_->Add(1));
      Must(joined_->Add("old"));
    }
    shard_.Commit("before");
  }

  void Register() {
    filler_ = &shard_.Get(Value("0filler"));
    value_ = &shard_.Get(Describe<Value>("value", Ttl(1000)));
    list_ = &shard_.Get(Describe<List>("list", Ttl(1000)));
    map_ = &shard_.Get(Describe<Map>("map", Ttl(1000)));
    sum_ = &shard_.Get(SumOf("sum"));
    joined_ = &shard_.Get(JoinedBy("joined"));
  }

  void Reopen() {
    shard_.Reopen();
    Register();
  }

  std::vector<Contents> ReadAll() {
    std::vector<Contents> all;
    for (int i = 0; i < kKeys; ++i) {
      shard_->SetCurrentKey(std::to_string(i));
      const std::int64_t* const sum = sum_->Get().value();
      all.emplace_back(
          Read(*value_), Read(*list_), Read(*map_),
          sum == nullptr ? std::nullopt : std::optional<std::int64_t>(*sum),
          joined_->Get().value());
    }
    return all;
  }

  bool on_heap() const { return GetParam().kind == BackendKind::kHeap; }

  // Whether states that change now can be seen to change apart from the commit.
  void ExpectUnderWay() {
    EXPECT_EQ(shard_->committing(), on_heap());
    if (on_heap()) {
      EXPECT_EQ(shard_->StepCommit(), CommitProgress::kSaving);
    }
  }

  void Finish() { Must(shard_->FinishCommit()); }

  Shard<> shard_{GetParam()};
  ValueState<std::string>* filler_ = nullptr;
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
  ReducingState<std::int64_t>* sum_ = nullptr;
  AggregatingState<std::string, std::string>* joined_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Setups, CommitInPartsTest, SomeSetups(), SetupName);

TEST_P(CommitInPartsTest, WhateverChangesMeanwhileIsInTheNextOne) {
  const std::vector<std::function<void()>> changes = {
      [this] { Must(value_->Update("new")); },
      [this] { Must(value_->Clear()); },
      [this] { Must(list_->Add("new")); },
      [this] {
        Must(list_->AddAll({"new", "newer"}));
      },
      [this] { Must(list_->Update({"new"})); },
      [this] { Must(list_->Clear()); },
      [this] { Must(map_->Put("a", "new")); },
      [this] { Must(map_->Put("c", "new")); },
      [this] { Must(map_->Remove("a")); },
      [this] {
        MapRange<std::string, std::string> range = map_->Entries().value();
        for ([[maybe_unused]] const auto& entry : range) {
          Must(range.RemoveCurrent());
        }
      },
      [this] { Must(map_->Clear()); },
      [this] { Must(sum_->Add(5)); },
      [this] { Must(sum_->Clear()); },
      [this] { Must(joined_->Add("new")); },
      [this] { Must(joined_->Clear()); },
      [this] {
        Must(value_->Clear());
        Must(value_->Update("new"));
        Must(list_->Clear());
        Must(list_->Add("new"));
        Must(map_->Clear());
        Must(map_->Put("a", "new"));
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::vector<Contents> before = ReadAll();
    std::vector<Contents> after;
    const auto begin_and_change = [&] {
      Must(shard_->BeginCommit("one"));
      for (int key = 0; key < kKeys; key += 3) {
        shard_->SetCurrentKey(std::to_string(key));
        changes[i]();
      }
      after = ReadAll();
      ASSERT_NE(after, before) << "change " << i;
      ExpectUnderWay();
      Finish();
      EXPECT_EQ(shard_->committed_position(), "one");
    };
    begin_and_change();
    Reopen();
    ASSERT_EQ(ReadAll(), before) << "change " << i;

    begin_and_change();
    shard_.Commit("two");
    Reopen();
    ASSERT_EQ(ReadAll(), after) << "change " << i;
    // As it was, for the next change.
    for (int key = 0; key < kKeys; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      Must(value_->Update("old"));
      Must(list_->Update({"old", "older"}));
      Must(map_->Clear());
      Must(map_->Put("a", "old"));
      Must(map_->Put("b", "old"));
      Must(sum_->Clear());
      Must(sum_->Add(1));
      Must(joined_->Clear());
      Must(joined_->Add("old"));
    }
    shard_.Commit("before");
  }
}

TEST_P(CommitInPartsTest, Row139WhatIsRemovedMeanwhileIsStillInIt) {
  const std::vector<Contents> before = ReadAll();
  for (const bool clean_up : {false, true}) {
    shard_.clock().SetMs(999);
    Must(shard_->BeginCommit("one"));
    shard_.clock().SetMs(1000);
    if (clean_up) {
      EXPECT_THAT(shard_->CleanUp(), IsOk());
    }
    EXPECT_EQ(ReadAll(), std::vector<Contents>(kKeys));
    ExpectUnderWay();
    Finish();
    shard_.clock().SetMs(999);
    Reopen();
    EXPECT_EQ(ReadAll(), before);
  }
}

TEST_P(CommitInPartsTest, ThousandsOfNewKeysAreInTheNextOne) {
  Must(shard_->BeginCommit("one"));
  const auto insert = [this] {
    for (int i = 0; i < 20'000; ++i) {
      shard_->SetCurrentKey("new" + std::to_string(i));
      Must(value_->Update("new"));
      if (i % 8 != 0) continue;
      Must(list_->Add("new"));
      Must(map_->Put("a", "new"));
    }
  };
  insert();
  Finish();
  Reopen();
  EXPECT_EQ(shard_.StoredEntries("value"), 1u * kKeys);
  EXPECT_EQ(shard_.StoredEntries("list"), 2u * kKeys);
  EXPECT_EQ(shard_.StoredEntries("map"), 2u * kKeys);

  Must(shard_->BeginCommit("one"));
  insert();
  Finish();
  shard_.Commit("two");
  Reopen();
  EXPECT_EQ(shard_.StoredEntries("value"), 20'000u + kKeys);
  EXPECT_EQ(shard_.StoredEntries("list"), 2500u + 2 * kKeys);
  EXPECT_EQ(shard_.StoredEntries("map"), 2500u + 2 * kKeys);
}

TEST_P(CommitInPartsTest, AStateThatIsNewMeanwhileIsNotInIt) {
  Must(shard_->BeginCommit("one"));
  auto& added = shard_.Get(Value("added"));
  shard_->SetCurrentKey("k");
  Must(added.Update("new"));
  Finish();
  Reopen();
  // Of another kind: nothing is known of it.
  auto& other = shard_.Get(List("added"));
  shard_->SetCurrentKey("k");
  EXPECT_TRUE(Read(other).empty());
  Must(shard_->BeginCommit("one"));
  Must(other.Add("new"));
  Finish();
  shard_.Commit("two");
  Reopen();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(shard_.Get(List("added"))), std::vector<std::string>{"new"});
}

TEST_P(CommitInPartsTest, AStateRegisteredMeanwhileIsInItAsItWasRestored) {
  shard_.Reopen();
  const auto register_meanwhile = [this] {
    filler_ = &shard_.Get(Value("0filler"));
    Must(shard_->BeginCommit("one"));
    Register();
    shard_->SetCurrentKey("7");
    Must(value_->Update("new"));
    Finish();
  };
  register_meanwhile();
  Reopen();
  EXPECT_EQ(shard_.StoredEntries("map"), 2u * kKeys);
  shard_->SetCurrentKey("7");
  EXPECT_EQ(Read(*value_), "old");

  shard_.Reopen();
  register_meanwhile();
  shard_.Commit("two");
  Reopen();
  EXPECT_EQ(shard_.StoredEntries("map"), 2u * kKeys);
  shard_->SetCurrentKey("7");
  EXPECT_EQ(Read(*value_), "new");
}

TEST_P(CommitInPartsTest, TheNextFinishesTheOneUnderWay) {
  Must(shard_->BeginCommit("one"));
  shard_->SetCurrentKey("7");
  Must(value_->Update("new"));
  Must(shard_->BeginCommit("two"));
  if (on_heap()) {
    EXPECT_EQ(shard_->committed_position(), "one");
  }
  Must(value_->Update("newer"));
  shard_.Commit("three");
  EXPECT_FALSE(shard_->committing());
  Must(value_->Update("newest"));
  Reopen();
  EXPECT_EQ(shard_->committed_position(), "three");
  shard_->SetCurrentKey("7");
  EXPECT_EQ(Read(*value_), "newer");
}

TEST_P(CommitInPartsTest, StepsAloneMakeItReady) {
  Must(shard_->BeginCommit("one"));
  int steps = 0;
  CommitProgress last = CommitProgress::kSaving;
  while (true) {
    const CommitProgress progress = shard_->StepCommit();
    EXPECT_GE(progress, last);
    last = progress;
    if (progress == CommitProgress::kReady) break;
    if (progress == CommitProgress::kSaving) {
      ASSERT_LT(++steps, 10);
    }
    std::this_thread::yield();
  }
  EXPECT_EQ(steps > 0, on_heap());
  Finish();
  EXPECT_EQ(shard_->committed_position(), "one");
  EXPECT_EQ(shard_->StepCommit(), CommitProgress::kReady);
  EXPECT_THAT(shard_->FinishCommit(), IsOk());
}

TEST_P(CommitInPartsTest, RecordsAloneTakeAllOutOfTheTables) {
  Must(shard_->BeginCommit("one"));
  for (int i = 0; i < kFillers; ++i) shard_->SetCurrentKey("k");
  EXPECT_NE(shard_->StepCommit(), CommitProgress::kSaving);
  Finish();
  Reopen();
  EXPECT_EQ(shard_.StoredEntries("0filler"), 1u * kFillers);
}

TEST_P(CommitInPartsTest, Row29ARestoreGoesBackBehindLaterWrites) {
  const auto descriptor = Describe<Value>("row", Ttl(100));
  auto* row = &shard_.Get(descriptor);
  const auto update = [&](const char* key, const char* value) {
    shard_->SetCurrentKey(key);
    Must(row->Update(value));
  };
  update("k1", "E");
  shard_.clock().SetMs(50);
  update("k1", "U");
  shard_.clock().SetMs(100);
  update("k2", "E");
  Must(shard_->BeginCommit());
  shard_.clock().SetMs(170);
  update("k1", "X");
  update("k2", "U");
  Finish();
  shard_.clock().SetMs(180);
  shard_.Reopen();
  row = &shard_.Get(descriptor);
  shard_->SetCurrentKey("k1");
  EXPECT_EQ(Read(*row), std::nullopt);
  shard_->SetCurrentKey("k2");
  EXPECT_EQ(Read(*row), "E");
}

// --- On heap alone ---

class HeapCommitTest : public CommitInPartsTest {};

INSTANTIATE_TEST_SUITE_P(Heap, HeapCommitTest, ::testing::Values(kHeap),
                         SetupName);

TEST_P(HeapCommitTest, ACrashUnderWayGoesBackToTheLastFinishedOne) {
  const std::vector<Contents> before = ReadAll();
  Must(shard_->BeginCommit("one"));
  EXPECT_EQ(shard_->committed_position(), "before");
  shard_->SetCurrentKey("7");
  Must(value_->Update("new"));
  // However far it came.
  while (shard_->StepCommit() != CommitProgress::kReady) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(shard_->committing());
  Reopen();
  EXPECT_EQ(shard_->committed_position(), "before");
  EXPECT_EQ(ReadAll(), before);
  EXPECT_FALSE(
      std::filesystem::exists(shard_.options.directory + "/snapshot.tmp"));
}

TEST_P(HeapCommitTest, AnErrorOfTheDiskLosesNothing) {
  for (const bool begin_another : {false, true}) {
    std::filesystem::create_symlink("/dev/full",
                                    shard_.options.directory + "/snapshot.tmp");
    Must(shard_->BeginCommit("one"));
    shard_->SetCurrentKey("7");
    Must(value_->Update("new"));
    EXPECT_THAT(
        begin_another ? shard_->BeginCommit("two") : shard_->FinishCommit(),
        StatusIs(absl::StatusCode::kResourceExhausted,
                 HasSubstr(shard_.options.directory)));
    EXPECT_FALSE(shard_->committing());
    EXPECT_EQ(shard_->committed_position(), "before");
    EXPECT_EQ(Read(*value_), "new");
  }
  const std::vector<Contents> pending = ReadAll();
  shard_.Commit("after");
  Reopen();
  EXPECT_EQ(ReadAll(), pending);
  EXPECT_EQ(shard_.StoredEntries("0filler"), 1u * kFillers);
}

TEST_P(HeapCommitTest, ACommitThatFailedHalfWayLeavesNoTraceInTheNext) {
  // Some entries were saved for it, most were not.
  std::filesystem::create_symlink("/dev/full",
                                  shard_.options.directory + "/snapshot.tmp");
  Must(shard_->BeginCommit("one"));
  for (int key = 0; key < kKeys; key += 2) {
    shard_->SetCurrentKey(std::to_string(key));
    Must(value_->Update("new"));
  }
  EXPECT_THAT(shard_->FinishCommit(), Not(IsOk()));
  const std::vector<Contents> pending = ReadAll();
  Must(shard_->BeginCommit("two"));
  for (int key = 0; key < kKeys; ++key) {
    shard_->SetCurrentKey(std::to_string(key));
    Must(value_->Update("newer"));
    Must(list_->Clear());
  }
  ExpectUnderWay();
  Finish();
  Reopen();
  EXPECT_EQ(ReadAll(), pending);
}

TEST_P(HeapCommitTest, Rows33And34CleanUpMeanwhileLeavesItAlone) {
  constexpr int kRows = 970;
  const auto descriptor = Describe<Value>(
      "row", TtlBuilder(100).CleanupIncrementally(5, true).Build().value());
  auto* row = &shard_.Get(descriptor);
  const auto update = [&](int from, int to, const char* value) {
    for (int i = from; i < to; ++i) {
      shard_->SetCurrentKey("row" + std::to_string(i));
      Must(row->Update(value));
    }
  };
  update(0, kRows, "first");
  shard_.clock().SetMs(50);
  update(0, 160, "second");
  Must(shard_->BeginCommit("one"));
  update(160, 320, "third");
  shard_.clock().SetMs(120);
  update(kRows, 2 * kRows, "other");
  // What was not rewritten is gone from the table, untouched by anyone.
  EXPECT_EQ(shard_.StoredEntries("row"), 320u + kRows);
  EXPECT_TRUE(shard_->committing());
  Finish();
  shard_.clock().SetMs(50);
  shard_.Reopen();
  row = &shard_.Get(descriptor);
  EXPECT_EQ(shard_.StoredEntries("row"), 1u * kRows);
  for (int i = 0; i < kRows; ++i) {
    shard_->SetCurrentKey("row" + std::to_string(i));
    ASSERT_EQ(Read(*row), i < 160 ? "second" : "first") << i;
  }
}

TEST_P(HeapCommitTest, RefreshingReadsAreInTheNextOne) {
  const StateTtlConfig ttl = Ttl(100, UpdateType::kOnReadAndWrite);
  for (const bool another : {false, true}) {
    shard_.clock().SetMs(another ? 1000 : 0);
    const TimestampMs now_ms = another ? 1000 : 0;
    auto* value = &shard_.Get(Describe<Value>("fresh.value", ttl));
    auto* list = &shard_.Get(Describe<List>("fresh.list", ttl));
    auto* map = &shard_.Get(Describe<Map>("fresh.map", ttl));
    shard_->SetCurrentKey("k");
    Must(value->Update("v"));
    Must(list->Add("v"));
    Must(map->Put("a", "v"));
    Must(shard_->BeginCommit("one"));
    shard_.clock().SetMs(now_ms + 50);
    EXPECT_EQ(Read(*value), "v");
    EXPECT_EQ(Read(*list), std::vector<std::string>{"v"});
    EXPECT_EQ(Read(*map).size(), 1u);
    ExpectUnderWay();
    Finish();
    if (another) shard_.Commit("two");
    shard_.clock().SetMs(now_ms + 120);
    shard_.Reopen();
    Register();
    value = &shard_.Get(Describe<Value>("fresh.value", ttl));
    list = &shard_.Get(Describe<List>("fresh.list", ttl));
    map = &shard_.Get(Describe<Map>("fresh.map", ttl));
    shard_->SetCurrentKey("k");
    EXPECT_EQ(Read(*value).has_value(), another);
    EXPECT_EQ(Read(*list).size(), another ? 1u : 0u);
    EXPECT_EQ(Read(*map).size(), another ? 1u : 0u);
  }
}

TEST_P(HeapCommitTest, ExpiredEntriesAreLeftOutWhereFullSnapshotsAreCleaned) {
  for (const bool clean : {false, true}) {
    auto builder = TtlBuilder(100);
    builder.DisableCleanupInBackground();
    if (clean) builder.CleanupFullSnapshot();
    const StateTtlConfig ttl = builder.Build().value();
    const std::string name = clean ? "clean." : "kept.";
    const auto value = Describe<Value>(name + "value", ttl);
    const auto list = Describe<List>(name + "list", ttl);
    const auto map = Describe<Map>(name + "map", ttl);
    const TimestampMs now_ms = clean ? 1000 : 0;
    const auto write = [&](const char* key, const char* text) {
      shard_->SetCurrentKey(key);
      Must(shard_.Get(value).Update(text));
      Must(shard_.Get(list).Add(text));
      Must(shard_.Get(map).Put(text, text));
    };
    shard_.clock().SetMs(now_ms);
    write("half", "old");
    write("gone", "old");
    shard_.clock().SetMs(now_ms + 50);
    write("half", "new");
    shard_.clock().SetMs(now_ms + 100);
    Must(shard_->BeginCommit());
    // Alive at the commit, and so part of it.
    shard_.clock().SetMs(now_ms + 150);
    Finish();
    shard_.Reopen();
    Register();
    shard_.Get(value);
    shard_.Get(list);
    shard_.Get(map);
    EXPECT_EQ(shard_.StoredEntries(name + "value"), clean ? 1u : 2u);
    EXPECT_EQ(shard_.StoredEntries(name + "list"), clean ? 1u : 3u);
    EXPECT_EQ(shard_.StoredEntries(name + "map"), clean ? 1u : 3u);
  }
}

TEST_P(HeapCommitTest, Row84CommitsUnderWayAtOnceCutListsOfTheirOwn) {
  const auto descriptor = Describe<List>(
      "cut", TtlBuilder(100).CleanupFullSnapshot().Build().value());
  Shard<> other(kHeap);
  const auto fill = [&](Shard<>& shard, const std::string& text) {
    auto& list = shard.Get(descriptor);
    for (const bool live : {false, true}) {
      shard.clock().SetMs(live ? 50 : 0);
      for (int i = 0; i < 50; ++i) {
        shard->SetCurrentKey(std::to_string(i));
        Must(list.Add(live ? text + std::to_string(i) : "expired"));
      }
    }
    shard.clock().SetMs(100);
    Must(shard->BeginCommit());
  };
  fill(shard_, "one");
  fill(other, "another");
  // Each change saves a list, now of the one and now of the other.
  for (int i = 0; i < 50; ++i) {
    for (Shard<>* const shard : {&shard_, &other}) {
      (*shard)->SetCurrentKey(std::to_string(i));
      Must(shard->Get(descriptor).Clear());
    }
  }
  Finish();
  Must(other->FinishCommit());
  for (Shard<>* const shard : {&shard_, &other}) {
    shard->Reopen();
    auto& list = shard->Get(descriptor);
    EXPECT_EQ(shard->StoredEntries("cut"), 50u);
    for (int i = 0; i < 50; ++i) {
      (*shard)->SetCurrentKey(std::to_string(i));
      ASSERT_EQ(Read(list),
                std::vector<std::string>{(shard == &other ? "another" : "one") +
                                         std::to_string(i)});
    }
  }
}

TEST_P(HeapCommitTest, ABackendWithoutADirectoryCommitsAtOnce) {
  shard_.options.directory = "";
  Reopen();
  Must(shard_->BeginCommit("one"));
  EXPECT_FALSE(shard_->committing());
  EXPECT_EQ(shard_->committed_position(), "one");
}

}  // namespace
}  // namespace mayfly::state_test
