// Cases C14 and C47: who sees what when only a part of a key has expired.
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/cases/five_states.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::Read;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class VisibilityCasesTest : public ::testing::TestWithParam<BackendSetup> {};

INSTANTIATE_TEST_SUITE_P(Setups, VisibilityCasesTest, state_test::AllSetups(),
                         SetupName);

TEST_P(VisibilityCasesTest, CaseC14NoCallOfAnyKindSeesWhatHasExpired) {
  for (const bool committed : {false, true}) {
    SCOPED_TRACE(committed);
    FiveStates states(GetParam(), Ttl(100));
    states.Register();
    MapState<std::string, std::string>& map = states.map();
    states.Write("k");
    states.At(50);
    Must(map.Put("b", "50"));
    if (committed) states.shard().Commit();

    states.At(120);
    EXPECT_EQ(states.Live("k"), FiveStates::kNone);
    EXPECT_THAT(map.Contains("m"), IsOkAndHolds(false));
    EXPECT_THAT(map.Contains("b"), IsOkAndHolds(true));
    EXPECT_THAT(Read(map), ElementsAre(Pair("b", "50")));
    EXPECT_THAT(map.IsEmpty(), IsOkAndHolds(false));

    states.At(160);
    EXPECT_THAT(map.IsEmpty(), IsOkAndHolds(true));
    EXPECT_THAT(Read(map), IsEmpty());
    EXPECT_EQ(Read(map, std::string("b")), std::nullopt);
    states.shard().Commit();
    EXPECT_EQ(states.Stored(), FiveStates::Each(0));
  }
}

// One key whose value and map entry have expired before its list.
class PartlyExpired {
 public:
  explicit PartlyExpired(const BackendSetup& setup) : shard_(setup) {
    shard_->SetCurrentKey("all");
    Must(value_.Update("v"));
    Must(map_.Put("m", "v"));
    shard_.clock().SetMs(50);
    for (const char* const key : {"list only", "all"}) {
      shard_->SetCurrentKey(key);
      Must(list_.Add("x"));
    }
  }

  void Commit() { shard_.Commit(); }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  // What a function makes of its states when it assumes nothing.
  std::string Process(const std::string& key) {
    shard_->SetCurrentKey(key);
    std::string seen = "value " + Read(value_).value_or("none") + ", entry " +
                       Read(map_, std::string("m")).value_or("none");
    for (const auto& [map_key, value] : Read(map_)) seen += ", " + map_key;
    for (const std::string& element : Read(list_)) seen += ", " + element;
    return seen;
  }

 private:
  Shard<> shard_;
  ValueState<std::string>& value_ =
      shard_.Get(Describe<Value>("value", Ttl(100)));
  ListState<std::string>& list_ = shard_.Get(Describe<List>("list", Ttl(100)));
  MapState<std::string, std::string>& map_ =
      shard_.Get(Describe<Map>("map", Ttl(100)));
};

TEST_P(VisibilityCasesTest, CaseC47WhatExpiredFirstIsAsIfItHadNeverBeen) {
  for (const bool committed : {false, true}) {
    SCOPED_TRACE(committed);
    PartlyExpired states(GetParam());
    if (committed) states.Commit();
    states.At(120);
    EXPECT_EQ(states.Process("all"), "value none, entry none, x");
    EXPECT_EQ(states.Process("all"), states.Process("list only"));
  }
}

}  // namespace
}  // namespace mayfly::cases
