// Clean-up that walks the entries: step by step as states are used, and all at
// once when it is called.
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;

// Clean-up that is asked for explicitly and no other.
StateTtlConfig Incrementally(std::int64_t entries, bool every_record) {
  return TtlBuilder(100)
      .DisableCleanupInBackground()
      .CleanupIncrementally(entries, every_record)
      .Build()
      .value();
}

StateTtlConfig NoCleanup() {
  return TtlBuilder(100).DisableCleanupInBackground().Build().value();
}

class CleanUpTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  void ForKeys(int from, int to, const std::function<void()>& write) {
    for (int key = from; key < to; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      write();
    }
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, CleanUpTest, AllSetups(), SetupName);

TEST_P(CleanUpTest, RemovesWhatHasExpiredAndNothingElse) {
  auto& value = shard_.Get(Describe<Text>("value", NoCleanup()));
  auto& list = shard_.Get(Describe<Texts>("list", NoCleanup()));
  auto& map = shard_.Get(Describe<TextMap>("map", NoCleanup()));
  auto& plain = shard_.Get(Text("plain"));
  ForKeys(0, 300, [&] {
    Must(value.Update("v"));
    Must(plain.Update("v"));
    Must(list.AddAll({"a", "b", "c"}));
    Must(map.Put("a", "1"));
    Must(map.Put("b", "2"));
  });
  shard_.Commit();
  At(50);
  ForKeys(0, 100, [&] {
    Must(value.Update("w"));
    Must(list.Add("d"));
    Must(map.Put("b", "3"));
  });
  shard_.Commit();
  At(100);
  EXPECT_EQ(shard_.StoredEntries("value"), 300u);
  const CleanUpResult result = shard_->CleanUp().value();
  EXPECT_TRUE(result.round_complete);
  // Of lists on RocksDB only those go of which at least half has expired, and
  // of a merge that has left expired elements out nobody knows how many.
  if (GetParam().kind == BackendKind::kHeap) {
    EXPECT_EQ(result.entries_removed, 200u + 900u + 500u);
  }
  shard_.Commit();
  EXPECT_EQ(shard_.StoredEntries("value"), 100u);
  EXPECT_EQ(shard_.StoredEntries("list"), 100u);
  EXPECT_EQ(shard_.StoredEntries("map"), 100u);
  EXPECT_EQ(shard_.StoredEntries("plain"), 300u);
  shard_->SetCurrentKey("0");
  EXPECT_EQ(Read(value), "w");
  EXPECT_THAT(Read(list), ElementsAre("d"));
  EXPECT_EQ(Read(map), (std::map<std::string, std::string>{{"b", "3"}}));

  const CleanUpResult again = shard_->CleanUp().value();
  EXPECT_EQ(again.entries_removed, 0u);
  EXPECT_TRUE(again.round_complete);
}

// A budget is kept to within a step, and a round reaches every entry.
TEST_P(CleanUpTest, GoesOnWhereItStopped) {
  auto& value = shard_.Get(Describe<Text>("value", NoCleanup()));
  auto& other = shard_.Get(Describe<Text>("other", NoCleanup()));
  ForKeys(0, 20'000, [&] {
    Must(value.Update("v"));
    Must(other.Update("v"));
  });
  shard_.Commit();
  At(100);
  constexpr std::uint64_t kStepMax = 8192;
  std::uint64_t removed = 0;
  int calls = 0;
  CleanUpResult result;
  do {
    result = shard_->CleanUp(1000).value();
    EXPECT_GE(result.entries_checked, result.round_complete ? 0u : 1000u);
    EXPECT_LE(result.entries_checked, 1000u + kStepMax);
    removed += result.entries_removed;
    ++calls;
  } while (!result.round_complete);
  EXPECT_GT(calls, 4);
  EXPECT_EQ(removed, 40'000u);
  shard_.Commit();
  EXPECT_EQ(shard_.StoredEntries("value") + shard_.StoredEntries("other"), 0u);
}

TEST_P(CleanUpTest, TheBackgroundLeavesAloneWhatDidNotAskForIt) {
  auto& asked = shard_.Get(Describe<Text>("asked", Incrementally(1, false)));
  auto& silent = shard_.Get(Describe<Text>("silent", NoCleanup()));
  ForKeys(0, 100, [&] {
    Must(asked.Update("v"));
    Must(silent.Update("v"));
  });
  shard_.Commit();
  At(100);
  const CleanUpResult result = shard_->CleanUpInBackground(1'000'000).value();
  EXPECT_TRUE(result.round_complete);
  EXPECT_EQ(result.entries_removed, 100u);
  shard_.Commit();
  EXPECT_EQ(shard_.StoredEntries("asked"), 0u);
  EXPECT_EQ(shard_.StoredEntries("silent"), 100u);
}

// The default: on for heap, off for RocksDB, off with the background.
TEST_P(CleanUpTest, Row58HeapCleansByDefault) {
  auto& by_default = shard_.Get(Describe<Text>("by_default", Ttl(100)));
  auto& off = shard_.Get(Describe<Text>("off", NoCleanup()));
  ForKeys(0, 1000, [&] {
    Must(by_default.Update("v"));
    Must(off.Update("v"));
  });
  shard_.Commit();
  At(100);
  ForKeys(1000, 2000, [&] {
    Must(by_default.Update("v"));
    Must(off.Update("v"));
  });
  shard_.Commit();
  const bool heap = GetParam().kind == BackendKind::kHeap;
  EXPECT_EQ(shard_.StoredEntries("by_default"), heap ? 1000u : 2000u);
  EXPECT_EQ(shard_.StoredEntries("off"), 2000u);
}

TEST_P(CleanUpTest, Row32EveryRecordPaysIfAskedTo) {
  auto& value = shard_.Get(Describe<Text>("value", Incrementally(5, true)));
  ForKeys(0, 970, [&] { Must(value.Update("v")); });
  shard_.Commit();
  At(120);
  // RocksDB's steps are of 1024 entries.
  ForKeys(0, 970, [] {});
  shard_.Commit();
  EXPECT_EQ(shard_.StoredEntries("value"), 0u);
}

// So many checks for each access, no more: a table of n entries is passed once
// in about n / 5 accesses.
TEST_P(CleanUpTest, AccessesPayForWhatIsChecked) {
  auto& value = shard_.Get(Describe<Text>("value", Incrementally(5, false)));
  ForKeys(0, 5000, [&] { Must(value.Update("v")); });
  shard_.Commit();
  At(120);
  ForKeys(0, 5000, [] {});  // Records that do not touch the state.
  EXPECT_EQ(shard_.CommittedEntries("value"), 5000u);
  for (int i = 0; i < 3000; ++i) {
    shard_->SetCurrentKey("another");
    EXPECT_EQ(Read(value), std::nullopt);
  }
  EXPECT_EQ(shard_.CommittedEntries("value"), 0u);
}

// What was just read is not taken away, and neither is what the same record
// has yet to read.
TEST_P(CleanUpTest, Row120ARecordReadsWhatWasThereWhenItBegan) {
  const StateTtlConfig ttl =
      TtlBuilder(100)
          .SetStateVisibility(StateVisibility::kReturnExpiredIfNotCleanedUp)
          .CleanupIncrementally(10'000, false)
          .Build()
          .value();
  auto& map = shard_.Get(Describe<TextMap>("map", ttl));
  shard_->SetCurrentKey("k");
  Must(map.Put("a", "1"));
  Must(map.Put("b", "2"));
  At(100);
  // Each read pays for a whole step.
  EXPECT_EQ(Read(map, std::string("a")), "1");
  EXPECT_EQ(Read(map, std::string("b")), "2");
}

TEST_P(CleanUpTest, CaseC44LeavesNoEmptyContainers) {
  auto& map = shard_.Get(Describe<TextMap>("map", Incrementally(5, true)));
  auto& list = shard_.Get(Describe<Texts>("list", Incrementally(5, true)));
  ForKeys(0, 1000, [&] {
    for (const char* key : {"a", "b", "c"}) Must(map.Put(key, "v"));
    Must(list.AddAll({"a", "b", "c"}));
  });
  shard_.Commit();
  At(120);
  for (int i = 0; i < 400; ++i) {
    shard_->SetCurrentKey("other");
    Must(map.Put("a", "v"));
    Must(list.Update({"a"}));
  }
  shard_.Commit();
  if (GetParam().kind == BackendKind::kHeap) {
    EXPECT_EQ(shard_.StoredEntries("map"), 1u);
    EXPECT_EQ(shard_.StoredEntries("list"), 1u);
    At(220);
    EXPECT_EQ(shard_->CleanUp()->entries_checked, 2u);
  }
}

// Nothing is passed by that was written, or given a shorter life, since.
TEST_P(CleanUpTest, FindsWhatWasWrittenSinceItPassed) {
  auto& value = shard_.Get(Describe<Text>("value", NoCleanup()));
  At(1000);
  ForKeys(0, 5000, [&] { Must(value.Update("v")); });
  At(1050);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 0u);
  At(1060);
  ForKeys(5000, 25'000, [&] { Must(value.Update("v")); });
  shard_->SetCurrentKey("0");
  Must(value.Update("short", std::chrono::milliseconds(10)));
  shard_.Commit();
  At(1069);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 0u);
  At(1070);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 1u);
  At(1100);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 4999u);
  At(1160);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 20'000u);
}

// What was written since the sweep passed is newer than what it removes.
TEST_P(CleanUpTest, ChangesThatWaitSurviveTheRemovalOfWhatIsStored) {
  auto& value = shard_.Get(Describe<Text>("value", NoCleanup()));
  auto& list = shard_.Get(Describe<Texts>("list", NoCleanup()));
  auto& map = shard_.Get(Describe<TextMap>("map", NoCleanup()));
  ForKeys(0, 10, [&] {
    Must(value.Update("old"));
    Must(list.AddAll({"old", "older"}));
    Must(map.Put("a", "old"));
  });
  shard_.Commit();
  At(100);
  ForKeys(0, 5, [&] {
    Must(value.Update("new"));
    Must(list.Add("new"));
    Must(map.Put("a", "new"));
  });
  Must(shard_->CleanUp().status());
  ForKeys(5, 10, [&] {
    Must(value.Update("new"));
    Must(list.Add("new"));
    Must(map.Put("a", "new"));
  });
  shard_.Commit();
  shard_.Reopen();
  ForKeys(0, 10, [&] {
    EXPECT_EQ(Read(shard_.Get(Describe<Text>("value", NoCleanup()))), "new");
    EXPECT_THAT(Read(shard_.Get(Describe<Texts>("list", NoCleanup()))),
                ElementsAre("new"));
    EXPECT_EQ(Read(shard_.Get(Describe<TextMap>("map", NoCleanup())),
                   std::string("a")),
              "new");
  });
}

// Not committed, the removal did not happen.
TEST_P(CleanUpTest, ACrashForgetsIt) {
  auto& value = shard_.Get(Describe<Text>("value", NoCleanup()));
  ForKeys(0, 10, [&] { Must(value.Update("v")); });
  shard_.Commit();
  At(100);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 10u);
  At(0);
  shard_.Reopen();
  auto& restored = shard_.Get(Describe<Text>("value", NoCleanup()));
  ForKeys(0, 10, [&] { EXPECT_EQ(Read(restored), "v"); });
}

TEST_P(CleanUpTest, CaseC11AClockThatJumpsRemovesNothing) {
  const StateTtlConfig ttl = Incrementally(1000, true);
  auto& value = shard_.Get(Describe<Text>("value", ttl));
  auto& list = shard_.Get(Describe<Texts>("list", ttl));
  auto& map = shard_.Get(Describe<TextMap>("map", ttl));
  At(1'000'000);
  ForKeys(0, 10, [&] {
    Must(value.Update("v"));
    Must(list.Add("e"));
    Must(map.Put("a", "1"));
  });
  shard_.Commit();
  shard_.clock().JumpToMs(4'102'444'800'000);
  ForKeys(0, 10, [&] {
    EXPECT_EQ(Read(value), std::nullopt);
    EXPECT_THAT(Read(list), IsEmpty());
    EXPECT_THAT(Read(map), IsEmpty());
    EXPECT_EQ(Read(map, std::string("a")), std::nullopt);
    EXPECT_THAT(map.IsEmpty(), IsOkAndHolds(true));
  });
  EXPECT_TRUE(shard_->clock_jumped());
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 0u);
  shard_.Commit();
  Must(shard_->Compact());
  shard_.clock().JumpToMs(1'000'099);
  ForKeys(0, 10, [&] {
    EXPECT_EQ(Read(value), "v");
    EXPECT_THAT(Read(list), ElementsAre("e"));
    EXPECT_EQ(Read(map, std::string("a")), "1");
  });
  EXPECT_FALSE(shard_->clock_jumped());
}

// Removals that wait for the next commit are found once.
TEST_P(CleanUpTest, CountsWhatItRemovesOnce) {
  auto& value = shard_.Get(Describe<Text>("value", NoCleanup()));
  ForKeys(0, 10, [&] { Must(value.Update("v")); });
  shard_.Commit();
  At(100);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 10u);
  EXPECT_EQ(shard_->CleanUp()->entries_removed, 0u);
  EXPECT_EQ(shard_.CommittedEntries("value"), 0u);
}

// A round that begins in the middle of the keyspace ends, also if what was
// stored from there on is gone by then.
TEST_P(CleanUpTest, ARoundThatBeganBehindAllThatIsLeftEnds) {
  auto& map = shard_.Get(Describe<TextMap>("map", Incrementally(20, false)));
  shard_->SetCurrentKey("k");
  for (int i = 0; i < 1500; ++i) Must(map.Put(std::to_string(i), "v"));
  shard_.Commit();
  Must(shard_->CleanUp(1).status());              // Moves the cursor.
  Must(shard_->CleanUpInBackground(1).status());  // Begins there.
  shard_->SetCurrentKey("k");
  Must(map.Clear());
  Must(map.Put("0", "v"));
  shard_.Commit();
  int calls = 0;
  while (!shard_->CleanUpInBackground(1)->round_complete) {
    ASSERT_LT(++calls, 10);
  }
}

TEST_P(CleanUpTest, WhatHasExpiredIsReturnedIfNothingCleansUp) {
  auto& map = shard_.Get(Describe<TextMap>(
      "map",
      TtlBuilder(100)
          .SetStateVisibility(StateVisibility::kReturnExpiredIfNotCleanedUp)
          .DisableCleanupInBackground()
          .Build()
          .value()));
  shard_->SetCurrentKey("k");
  Must(map.Put("a", "1"));
  EXPECT_THAT(map.IsEmpty(), IsOkAndHolds(false));
  At(100);
  Must(map.Put("b", "2"));
  shard_.Commit();
  Must(shard_->Compact());
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(map),
            (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
}

// Between the start and the first access, too.
TEST_P(CleanUpTest, CaseC11AJumpBeforeTheFirstAccessRemovesNothing) {
  At(1'000'000);
  shard_->SetCurrentKey("k");
  Must(shard_.Get(Describe<Text>("value", Ttl(60'000))).Update("v"));
  shard_.Commit();
  shard_.Reopen();
  auto& value = shard_.Get(Describe<Text>("value", Ttl(60'000)));
  shard_.clock().JumpToMs(4'102'444'800'000);
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(value), std::nullopt);
  EXPECT_TRUE(shard_->clock_jumped());
  shard_.Commit();
  shard_.clock().JumpToMs(1'000'001);
  EXPECT_EQ(Read(value), "v");
}

TEST_P(CleanUpTest, WithoutATtlThereIsNothingToDo) {
  auto& value = shard_.Get(Text("plain"));
  ForKeys(0, 10, [&] { Must(value.Update("v")); });
  const CleanUpResult result = shard_->CleanUp().value();
  EXPECT_EQ(result.entries_checked, 0u);
  EXPECT_TRUE(result.round_complete);
}

// On heap all maps of a segment are checked in one step. That is paid for
// before the next one: 20,000 entries take 4,000 accesses that pay for five
// each.
TEST(CleanUpOnHeapTest, AStepIsPaidForInFull) {
  Shard<> shard(kHeap);
  const TextMap descriptor = Describe<TextMap>("map", Incrementally(5, false));
  auto& filled = shard.Get(descriptor);
  for (int key = 0; key < 400; ++key) {
    shard->SetCurrentKey(std::to_string(key));
    for (int i = 0; i < 50; ++i) Must(filled.Put(std::to_string(i), "v"));
  }
  shard.Commit();
  shard.Reopen();  // Nothing is owed, and nothing is paid.
  auto& map = shard.Get(descriptor);
  const auto access = [&](int times) {
    for (int i = 0; i < times; ++i) {
      shard->SetCurrentKey("other");
      EXPECT_EQ(Read(map, std::string("a")), std::nullopt);
    }
    return shard.StoredEntries("map");
  };
  // One step, soon, which finds nothing.
  EXPECT_EQ(access(200), 20'000u);
  shard.clock().SetMs(120);
  EXPECT_EQ(access(3'500), 20'000u);
  EXPECT_EQ(access(1'000), 0u);
}

// A heap segment is not walked while nothing in it can have expired.
TEST(HeapCleanUpTest, PassesByWhatCannotHaveExpired) {
  Shard<> shard(kHeap);
  auto& value = shard.Get(Describe<Text>("value", NoCleanup()));
  auto& list = shard.Get(Describe<Texts>("list", NoCleanup()));
  auto& map = shard.Get(Describe<TextMap>("map", NoCleanup()));
  for (int key = 0; key < 100; ++key) {
    shard->SetCurrentKey(std::to_string(key));
    Must(value.Update("v"));
    Must(list.AddAll({"a", "b"}));
    Must(map.Put("a", "1"));
  }
  shard.clock().SetMs(50);
  EXPECT_EQ(shard->CleanUp()->entries_checked, 400u);
  shard.clock().SetMs(99);
  EXPECT_EQ(shard->CleanUp()->entries_checked, 0u);
  EXPECT_TRUE(shard->CleanUp()->round_complete);
  shard.clock().SetMs(100);
  const CleanUpResult result = shard->CleanUp().value();
  EXPECT_EQ(result.entries_checked, 400u);
  EXPECT_EQ(result.entries_removed, 400u);
}

}  // namespace
}  // namespace mayfly::state_test
