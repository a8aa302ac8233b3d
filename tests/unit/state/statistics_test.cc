#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/state_statistics.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class StatisticsTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  StateStatistics Of(const std::string& state) {
    const std::vector<StateStatistics> all = shard_->Statistics().value();
    for (const StateStatistics& counts : all) {
      if (counts.state == state) return counts;
    }
    ADD_FAILURE() << "no state " << state;
    return {};
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Backends, StatisticsTest, BothBackends(), SetupName);

TEST_P(StatisticsTest, CountsLiveAndExpiredEntriesOfEachState) {
  const StateTtlConfig ttl =
      TtlBuilder(100).DisableCleanupInBackground().Build().value();
  auto& value = shard_.Get(Describe<Value>("value", ttl));
  auto& list = shard_.Get(Describe<List>("list", ttl));
  auto& map = shard_.Get(Describe<Map>("map", ttl));
  auto& plain = shard_.Get(Value("plain"));
  const auto write = [&](const std::string& key) {
    shard_->SetCurrentKey(key);
    Must(value.Update("12345"));
    Must(list.AddAll({"1", "2", "3"}));
    Must(map.Put("a", "1"));
    Must(map.Put("b", "2"));
    Must(plain.Update("v"));
  };
  write("old");
  shard_.clock().SetMs(50);
  write("new");
  shard_.Commit();
  shard_.clock().SetMs(100);

  EXPECT_EQ(Of("value").live_entries, 1u);
  EXPECT_EQ(Of("value").expired_entries, 1u);
  EXPECT_EQ(Of("list").live_entries, 3u);
  EXPECT_EQ(Of("list").expired_entries, 3u);
  EXPECT_EQ(Of("map").live_entries, 2u);
  EXPECT_EQ(Of("map").expired_entries, 2u);
  EXPECT_EQ(Of("plain").live_entries, 2u);
  EXPECT_EQ(Of("plain").expired_entries, 0u);
  for (const char* const state : {"value", "list", "map", "plain"}) {
    EXPECT_TRUE(Of(state).exact) << state;
  }
  // Keys of 3 bytes, stamps of 8, values of 5: strings are stored as they are.
  EXPECT_EQ(Of("value").bytes, 2u * (3 + 8 + 5));
  EXPECT_EQ(Of("plain").bytes, 2u * (3 + 1));
}

TEST_P(StatisticsTest, WhenAllHasExpiredAllBytesAreExpired) {
  const StateTtlConfig kept =
      TtlBuilder(100).DisableCleanupInBackground().Build().value();
  auto& value = shard_.Get(Describe<Value>("value", kept));
  auto& list = shard_.Get(Describe<List>("list", kept));
  auto& map = shard_.Get(Describe<Map>("map", kept));
  shard_->SetCurrentKey("key");
  Must(value.Update("v"));
  Must(list.AddAll({"a", "b"}));
  Must(map.Put("k", "v"));
  shard_.Commit();
  shard_.clock().SetMs(100);
  for (const char* const state : {"value", "list", "map"}) {
    EXPECT_GT(Of(state).bytes, 0u) << state;
    EXPECT_EQ(Of(state).expired_bytes, Of(state).bytes) << state;
  }
}

TEST_P(StatisticsTest, AnEmptyStateHoldsNothing) {
  shard_.Get(Describe<Value>("value", Ttl(100)));
  EXPECT_EQ(Of("value").live_entries, 0u);
  EXPECT_EQ(Of("value").bytes, 0u);
  EXPECT_TRUE(Of("value").exact);
}

TEST_P(StatisticsTest, ExtrapolatesFromAPartIfAsked) {
  auto& value = shard_.Get(Describe<Value>("value", Ttl(100)));
  constexpr std::uint64_t kKeys = 40'000;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    if (i == kKeys / 2) shard_.clock().SetMs(50);
    shard_->SetCurrentKey(std::to_string(i));
    Must(value.Update("v"));
  }
  shard_.Commit();
  shard_.clock().SetMs(50);
  const std::vector<StateStatistics> some =
      shard_->Statistics(/*visits_max=*/2000).value();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_FALSE(some[0].exact);
  EXPECT_NEAR(static_cast<double>(some[0].live_entries), kKeys, kKeys / 3);
  EXPECT_NEAR(static_cast<double>(some[0].bytes), kKeys * 14, kKeys * 5);

  const StateStatistics all = Of("value");
  EXPECT_TRUE(all.exact);
  EXPECT_EQ(all.live_entries, kKeys);
}

// Case C44: a list or map of which all has expired and been read leaves no
// container behind.
TEST_P(StatisticsTest, CaseC44NothingIsLeftOfContainersThatWereReadEmpty) {
  auto& list = shard_.Get(Describe<List>("list", Ttl(100)));
  auto& map = shard_.Get(Describe<Map>("map", Ttl(100)));
  for (int i = 0; i < 1000; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(list.AddAll({"1", "2", "3"}));
    for (const char* const key : {"a", "b", "c"}) Must(map.Put(key, "v"));
  }
  shard_.clock().SetMs(100);
  for (int i = 0; i < 1000; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    EXPECT_TRUE(Read(list).empty());
    EXPECT_TRUE(Read(map).empty());
  }
  shard_.Commit();
  EXPECT_EQ(Of("list").bytes, 0u);
  EXPECT_EQ(Of("map").bytes, 0u);
}

TEST_P(StatisticsTest, CaseC44NothingIsLeftOfMapsThatWereEmptiedByLookUp) {
  auto& map = shard_.Get(Describe<Map>("map", Ttl(100)));
  shard_->SetCurrentKey("get");
  Must(map.Put("a", "v"));
  shard_->SetCurrentKey("remove");
  Must(map.Put("a", "v"));
  Must(map.Remove("a"));
  shard_.clock().SetMs(100);
  shard_->SetCurrentKey("get");
  EXPECT_EQ(Read(map, std::string("a")), std::nullopt);
  shard_.Commit();
  EXPECT_EQ(Of("map").bytes, 0u);
  EXPECT_EQ(Of("map").live_entries + Of("map").expired_entries, 0u);
}

}  // namespace
}  // namespace mayfly::state_test
