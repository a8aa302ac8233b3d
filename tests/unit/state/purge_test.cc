// Expired entries leave the disk: the compaction filter reaches the column
// family of every state, however it came to be, and goes by the time of the
// last commit alone.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class PurgeTest : public ::testing::Test {
 protected:
  void Register(const StateTtlConfig& ttl) {
    value_ = &shard_.Get(Describe<Value>("value", ttl));
    list_ = &shard_.Get(Describe<List>("list", ttl));
    map_ = &shard_.Get(Describe<Map>("map", ttl));
  }

  void Write(const std::string& key) {
    shard_->SetCurrentKey(key);
    Must(value_->Update("v"));
    Must(list_->Add("v"));
    Must(list_->Add("w"));
    Must(map_->Put("m", "v"));
    Must(map_->Put("n", "w"));
  }

  void WriteHundred() {
    for (int i = 0; i < 100; ++i) Write(std::to_string(i));
  }

  // Records of the three states, counted beneath them. Ends the run.
  std::uint64_t RecordsOnDisk() {
    shard_.Close();
    RawDatabase raw(shard_.options.directory);
    return raw.Records("value") + raw.Records("list") + raw.Records("map");
  }

  void CompactAt(TimestampMs now_ms) {
    shard_.clock().SetMs(now_ms);
    shard_.Commit();
    Must(shard_->Compact());
  }

  Shard<> shard_{kRocksdb};
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
};

TEST_F(PurgeTest, CaseC53ReachesStatesMadeBeforeTheFirstWrite) {
  Register(Ttl(100));
  WriteHundred();
  CompactAt(50);
  EXPECT_EQ(shard_.StoredEntries("list"), 200u);
  CompactAt(1000);
  EXPECT_EQ(RecordsOnDisk(), 0u);
}

TEST_F(PurgeTest, CaseC53ReachesStatesMadeLater) {
  auto& other = shard_.Get(Value("other"));
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(other.Update("v"));
    shard_.Commit();
  }
  Register(Ttl(100));
  WriteHundred();
  CompactAt(1000);
  EXPECT_EQ(shard_.StoredEntries("other"), 100u);  // It has no TTL.
  EXPECT_EQ(RecordsOnDisk(), 0u);
}

TEST_F(PurgeTest, CaseC53ReachesStatesThatAreRestored) {
  Register(Ttl(100));
  WriteHundred();
  shard_.Commit();
  shard_.Reopen();
  Register(Ttl(100));
  CompactAt(1000);
  EXPECT_EQ(RecordsOnDisk(), 0u);
}

TEST_F(PurgeTest, Row126ReachesStatesThatNobodyRegisters) {
  Register(Ttl(100));
  WriteHundred();
  shard_.Commit();
  shard_.Reopen();
  CompactAt(1000);
  EXPECT_EQ(RecordsOnDisk(), 0u);
}

TEST_F(PurgeTest, Row137LeavesLiveEntriesAndOtherTtlsAlone) {
  Register(Ttl(100));
  auto& longer = shard_.Get(Describe<Value>("longer", Ttl(10'000)));
  Write("old");
  Must(longer.Update("v"));
  shard_.clock().SetMs(60);
  Write("young");
  CompactAt(150);
  EXPECT_EQ(shard_.StoredEntries("longer"), 1u);
  EXPECT_EQ(shard_.StoredEntries("value"), 1u);
  EXPECT_EQ(shard_.StoredEntries("list"), 2u);
  EXPECT_EQ(shard_.StoredEntries("map"), 2u);
  shard_->SetCurrentKey("young");
  EXPECT_EQ(Read(*value_), "v");
}

// What has expired since the last commit may still be read by a restart from
// it, so it stays.
TEST_F(PurgeTest, GoesByTheCommittedTimeAlone) {
  Register(Ttl(100));
  Write("k");
  shard_.Commit();
  shard_.clock().SetMs(100);
  EXPECT_EQ(Read(*value_), std::nullopt);
  Must(shard_->Compact());

  shard_.clock().SetMs(50);  // The crash: a machine with an earlier clock.
  shard_.Reopen();
  Register(Ttl(100));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), "v");
  EXPECT_THAT(Read(*list_), ElementsAre("v", "w"));
  EXPECT_THAT(Read(*map_), ElementsAre(Pair("m", "v"), Pair("n", "w")));
}

TEST_F(PurgeTest, GoesByTheCommittedWatermarkAlone) {
  const StateTtlConfig event_time =
      TtlBuilder(100)
          .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
          .Build()
          .value();
  Register(event_time);
  Write("k");
  shard_.clock().SetMs(1'000'000);  // Nothing to event time.
  shard_.Commit();
  shard_->AdvanceWatermark(100);
  EXPECT_EQ(Read(*value_), std::nullopt);
  Must(shard_->Compact());

  shard_.Reopen();
  Register(event_time);
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), "v");
  EXPECT_THAT(Read(*list_), ElementsAre("v", "w"));
  shard_->AdvanceWatermark(100);
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(RecordsOnDisk(), 0u);
}

TEST_F(PurgeTest, CaseC31ClearedAndRewrittenKeysSurviveTheFilter) {
  Register(Ttl(100));
  Write("k");
  CompactAt(0);
  shard_.clock().SetMs(50);
  Write("k");
  CompactAt(120);
  Must(value_->Clear());
  CompactAt(130);
  Must(value_->Update("again"));
  CompactAt(140);
  EXPECT_EQ(Read(*value_), "again");
  EXPECT_THAT(Read(*list_), ElementsAre("v", "w"));
}

TEST_F(PurgeTest, Row59WithoutCleanUpInTheBackgroundNothingIsRemoved) {
  const StateTtlConfig off =
      TtlBuilder(100).DisableCleanupInBackground().Build().value();
  Register(off);
  Write("k");
  CompactAt(1000);
  EXPECT_EQ(shard_.StoredEntries("value"), 1u);
  EXPECT_EQ(shard_.StoredEntries("list"), 2u);
  EXPECT_EQ(shard_.StoredEntries("map"), 2u);
  EXPECT_EQ(Read(*value_), std::nullopt);
}

TEST_F(PurgeTest, Row59CleanUpMayBeSwitchedOnLater) {
  Register(TtlBuilder(100).DisableCleanupInBackground().Build().value());
  WriteHundred();
  shard_.Commit();
  shard_.Reopen();
  Register(Ttl(100));
  CompactAt(1000);
  EXPECT_EQ(RecordsOnDisk(), 0u);
}

TEST_F(PurgeTest, Row127ThePeriodReachesTheLiveColumnFamily) {
  const auto with_period = [](std::int64_t ttl_ms, auto period) {
    return TtlBuilder(ttl_ms)
        .CleanupInRocksdbCompactFilter(1000, period)
        .Build()
        .value();
  };
  const std::int64_t day_ms = 86'400'000;
  shard_.Get(Describe<Value>("set", with_period(100, std::chrono::hours(1))));
  shard_.Get(
      Describe<Value>("off", with_period(100, std::chrono::milliseconds(0))));
  shard_.Get(Describe<Value>(
      "rounded", with_period(100, std::chrono::milliseconds(1500))));
  shard_.Get(Describe<Value>("short", Ttl(1000)));
  shard_.Get(Describe<Value>("week", Ttl(7 * day_ms)));
  shard_.Get(Describe<Value>("year", Ttl(365 * day_ms)));
  shard_.Get(Describe<Value>(
      "infinite", StateTtlConfig::NewInfiniteBuilder().Build().value()));
  shard_.Close();
  const auto period = [&](const std::string& state) {
    return PeriodicCompactionSeconds(shard_.options.directory, state);
  };
  EXPECT_EQ(period("set"), 3600u);
  EXPECT_EQ(period("off"), 0u);
  EXPECT_EQ(period("rounded"), 2u);
  // By default once per TTL, but between a day and thirty.
  EXPECT_EQ(period("short"), 86'400u);
  EXPECT_EQ(period("week"), 604'800u);
  EXPECT_EQ(period("year"), 2'592'000u);
  EXPECT_EQ(period("infinite"), 2'592'000u);
}

TEST_F(PurgeTest, Row127AnotherPeriodReachesARestoredColumnFamily) {
  shard_.Get(Describe<Value>("value", Ttl(100)));
  shard_.Reopen();
  shard_.Get(Describe<Value>(
      "value", TtlBuilder(100)
                   .CleanupInRocksdbCompactFilter(7, std::chrono::seconds(77))
                   .Build()
                   .value()));
  shard_.Close();
  EXPECT_EQ(PeriodicCompactionSeconds(shard_.options.directory, "value"), 77u);
}

// The other states are cleaned although one cannot be read.
TEST(CleanUpOfADamagedFileTest, IsAnErrorThatHoldsUpNoOtherState) {
  Shard<> shard(kRocksdb);
  const Value damaged = Describe<Value>(
      "damaged", TtlBuilder(100).DisableCleanupInBackground().Build().value());
  const Value healthy = Describe<Value>(
      "healthy", TtlBuilder(100).DisableCleanupInBackground().Build().value());
  for (int key = 0; key < 3000; ++key) {
    shard->SetCurrentKey(std::to_string(key));
    Must(shard.Get(damaged).Update(std::string(100, 'v')));
  }
  shard.Commit();
  Must(shard->Compact());  // Into the one file there is.
  shard.Close();
  for (const auto& entry :
       std::filesystem::directory_iterator(shard.options.directory + "/db")) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000) << "damage";
  }
  shard.Reopen();
  shard.Get(damaged);
  auto& value = shard.Get(healthy);
  shard->SetCurrentKey("k");
  Must(value.Update("v"));
  shard.Commit();
  shard.clock().SetMs(100);
  for (int call = 0; call < 3; ++call) {
    EXPECT_THAT(shard->CleanUp(), StatusIs(absl::StatusCode::kDataLoss));
  }
  shard.Commit();
  shard.Close();
  // The value, and what deletes it.
  EXPECT_EQ(RawDatabase(shard.options.directory).Records("healthy"), 2u);
}

}  // namespace
}  // namespace mayfly::state_test
