// A TTL that is another one after a restart. Row 134, cases C59 and C61: once
// expired, always expired; all else lives by the new TTL.
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class TtlChangeTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void Register(const StateTtlConfig& ttl) {
    value_ = &shard_.Get(Describe<Value>("value", ttl));
    list_ = &shard_.Get(Describe<List>("list", ttl));
    map_ = &shard_.Get(Describe<Map>("map", ttl));
  }

  void RestartAt(TimestampMs now_ms, const StateTtlConfig& ttl) {
    shard_.clock().SetMs(now_ms);
    shard_.Reopen();
    Register(ttl);
  }

  void Write(const std::string& key) {
    shard_->SetCurrentKey(key);
    Must(value_->Update(key));
    Must(list_->Add(key));
    Must(map_->Put(key, key));
  }

  // Whether the key's entries are all there, all of them being of one age.
  bool Live(const std::string& key) {
    shard_->SetCurrentKey(key);
    const bool live = Read(*value_).has_value();
    EXPECT_EQ(!Read(*list_).empty(), live) << key;
    EXPECT_EQ(!Read(*map_).empty(), live) << key;
    return live;
  }

  Shard<> shard_{GetParam()};
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Setups, TtlChangeTest, AllSetups(), SetupName);

TEST_P(TtlChangeTest, ALongerOneRevivesNothing) {
  Register(Ttl(1000));
  Write("expired at 1000");
  shard_.clock().SetMs(500);
  Write("just expired at 1500");
  shard_.clock().SetMs(501);
  Write("just live at 1500");
  shard_.clock().SetMs(1500);
  shard_.Commit();

  RestartAt(1600, Ttl(10'000));
  EXPECT_FALSE(Live("expired at 1000"));
  EXPECT_FALSE(Live("just expired at 1500"));
  EXPECT_TRUE(Live("just live at 1500"));
  shard_.clock().SetMs(10'500);
  EXPECT_TRUE(Live("just live at 1500"));
  shard_.clock().SetMs(10'501);
  EXPECT_FALSE(Live("just live at 1500"));
}

// Whether clean-up had reached an entry makes no difference.
TEST_P(TtlChangeTest, CaseC61RemovedAndNotYetRemovedAreGoneAlike) {
  Register(Ttl(1000));
  for (int i = 0; i < 100; ++i) Write(std::to_string(i));
  shard_.clock().SetMs(1500);
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(Live(std::to_string(i)));
  shard_.Commit();
  RestartAt(1600, Ttl(10'000));
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(Live(std::to_string(i))) << i;
}

TEST_P(TtlChangeTest, CaseC61AShorterOneActsAtOnceAndOnDisk) {
  Register(Ttl(10'000));
  for (int i = 0; i < 100; ++i) Write(std::to_string(i));
  shard_.clock().SetMs(1500);
  shard_.Commit();
  RestartAt(1600, Ttl(1000));
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(Live(std::to_string(i))) << i;
  shard_.Commit();
  Must(shard_->Compact());
  if (GetParam().kind == BackendKind::kRocksdb) {
    shard_.Close();
    RawDatabase raw(shard_.options.directory);
    for (const char* const state : {"value", "list", "map"}) {
      EXPECT_EQ(raw.Records(state), 0u) << state;
    }
  }
}

TEST_P(TtlChangeTest, WhatIsWrittenAfterTheChangeLivesByTheNewOne) {
  Register(Ttl(1000));
  Write("old");
  shard_.clock().SetMs(1500);
  shard_.Commit();
  RestartAt(1500, Ttl(10'000));
  Write("old");  // At the recorded clock itself.
  EXPECT_TRUE(Live("old"));
  shard_.clock().SetMs(11'499);
  EXPECT_TRUE(Live("old"));
  shard_.clock().SetMs(11'500);
  EXPECT_FALSE(Live("old"));
}

TEST_P(TtlChangeTest, ManyChangesForgetNothing) {
  Register(Ttl(1000));
  Write("expired");
  shard_.clock().SetMs(900);
  Write("live");
  shard_.clock().SetMs(1500);
  shard_.Commit();
  RestartAt(1500, Ttl(50'000));
  shard_.Commit();
  RestartAt(1500, Ttl(90'000));
  shard_.Commit();
  RestartAt(1500, StateTtlConfig::NewInfiniteBuilder().Build().value());
  EXPECT_FALSE(Live("expired"));
  shard_.clock().SetMs(std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(Live("live"));
}

TEST_P(TtlChangeTest, AFiniteTtlTakesOverFromAnInfiniteOne) {
  Register(StateTtlConfig::NewInfiniteBuilder().Build().value());
  Write("old");
  shard_.clock().SetMs(5000);
  Write("young");
  shard_.Commit();
  RestartAt(5999, Ttl(1000));
  EXPECT_FALSE(Live("old"));
  EXPECT_TRUE(Live("young"));
}

// A restart under a longer TTL that dies before its first commit has promised
// nothing; the next one decides anew.
TEST_P(TtlChangeTest, ARestartWithoutACommitDecidesNothingForTheNext) {
  Register(Ttl(1000));
  Write("k");
  shard_.clock().SetMs(500);
  shard_.Commit();
  RestartAt(600, Ttl(10'000));
  RestartAt(700, Ttl(1000));
  EXPECT_TRUE(Live("k"));
  shard_.clock().SetMs(1000);
  EXPECT_FALSE(Live("k"));
}

// Not even one with a shorter TTL, under which everything had expired.
TEST_P(TtlChangeTest, AShorterOneWithoutACommitDestroysNothing) {
  Register(Ttl(10'000));
  Write("k");
  shard_.clock().SetMs(5000);
  shard_.Commit();
  RestartAt(6000, Ttl(1000));
  EXPECT_FALSE(Live("k"));
  Must(shard_->Compact());
  RestartAt(7000, Ttl(10'000));
  EXPECT_TRUE(Live("k"));
}

TEST_P(TtlChangeTest, PartsOfAListAndAMapGoTheirOwnWays) {
  Register(Ttl(100));
  shard_->SetCurrentKey("k");
  Must(list_->Add("x"));
  Must(map_->Put("x", "x"));
  shard_.clock().SetMs(950);
  Must(list_->Add("y"));
  Must(map_->Put("y", "y"));
  shard_.clock().SetMs(1000);
  shard_.Commit();
  RestartAt(1000, Ttl(100'000));
  shard_->SetCurrentKey("k");
  EXPECT_THAT(Read(*list_), ElementsAre("y"));
  EXPECT_THAT(Read(*map_), ElementsAre(Pair("y", "y")));
}

}  // namespace
}  // namespace mayfly::state_test
