// What operators see of a shard: what it holds, what has expired of it, and who
// has removed how much.
#include "mayfly/state/state_monitor.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;
using Sum = ReducingStateDescriptor<std::int64_t>;

constexpr std::int64_t kTtlMs = 100'000;
constexpr SweepOptions kOptions{.staleness_max = milliseconds(10'000)};

StateStatistics Of(const StateMonitor& monitor, const std::string& state,
                   const std::vector<TimestampMs>& expired_by_ms = {}) {
  const std::vector<StateStatistics> all = monitor.Read(expired_by_ms);
  const auto found = std::find_if(
      all.begin(), all.end(),
      [&](const StateStatistics& one) { return one.state == state; });
  if (found == all.end()) throw std::runtime_error("no state '" + state + "'");
  return *found;
}

// Only what reads and clean-up remove is removed: nothing in the background.
StateTtlConfig QuietTtl(
    StateVisibility visibility = StateVisibility::kNeverReturnExpired) {
  return TtlBuilder(kTtlMs)
      .SetStateVisibility(visibility)
      .DisableCleanupInBackground()
      .Build()
      .value();
}

class StateMonitorTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // A value, two elements and two map entries of each key.
  void Fill(const StateTtlConfig& ttl, int keys) {
    auto& value = shard_.Get(Describe<Text>("value", ttl));
    auto& list = shard_.Get(Describe<Texts>("list", ttl));
    auto& map = shard_.Get(Describe<TextMap>("map", ttl));
    for (int key = 0; key < keys; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      Must(value.Update(std::string(100, 'v')));
      Must(list.AddAll({std::string(100, 'e'), std::string(100, 'f')}));
      Must(map.Put("a", std::string(100, 'v')));
      Must(map.Put("b", std::string(100, 'v')));
    }
    shard_.Commit();
  }

  StateCleanup CleanupOf(const std::string& state) {
    return Of(*shard_->monitor(), state).cleanup;
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Backends, StateMonitorTest, AllSetups(), SetupName);

TEST_P(StateMonitorTest, CountsWhatReadsRemove) {
  for (const StateVisibility visibility :
       {StateVisibility::kNeverReturnExpired,
        StateVisibility::kReturnExpiredIfNotCleanedUp}) {
    const StateTtlConfig ttl = QuietTtl(visibility);
    const std::string suffix =
        visibility == StateVisibility::kNeverReturnExpired ? "" : "-shown";
    auto& value = shard_.Get(Describe<Text>("value" + suffix, ttl));
    auto& list = shard_.Get(Describe<Texts>("list" + suffix, ttl));
    auto& map = shard_.Get(Describe<TextMap>("map" + suffix, ttl));
    Sum descriptor("sum" + suffix,
                   [](std::int64_t a, std::int64_t b) { return a + b; });
    descriptor.EnableTimeToLive(ttl);
    auto& sum = shard_.Get(descriptor);
    const TimestampMs start = shard_.clock().NowMs();
    shard_->SetCurrentKey("k");
    Must(value.Update(std::string(100, 'v')));
    Must(list.AddAll({"1", "2", "3"}));
    Must(map.Put("a", "1"));
    Must(map.Put("b", "2"));
    Must(map.Put("c", "3"));
    Must(sum.Add(1));
    // Live ones are read, and count nothing.
    Read(value);
    Read(list);
    Read(map);
    shard_.Commit();
    EXPECT_EQ(CleanupOf("value" + suffix).reads, Removed());
    shard_.clock().SetMs(start + kTtlMs);
    shard_->SetCurrentKey("k");
    Read(value);
    Read(value);
    Read(list);
    Read(map, std::string("a"));
    Read(map);
    Must(sum.Add(1));
    Must(sum.Add(1));
    EXPECT_EQ(CleanupOf("value" + suffix).reads.entries, 1u);
    EXPECT_GE(CleanupOf("value" + suffix).reads.bytes, 100u);
    EXPECT_LE(CleanupOf("value" + suffix).reads.bytes, 400u);
    EXPECT_EQ(CleanupOf("list" + suffix).reads.entries, 3u);
    EXPECT_GE(CleanupOf("list" + suffix).reads.bytes, 3 * 40u);
    EXPECT_EQ(CleanupOf("map" + suffix).reads.entries, 3u);
    EXPECT_GE(CleanupOf("map" + suffix).reads.bytes, 3 * 64u);
    EXPECT_EQ(CleanupOf("sum" + suffix).reads.entries, 1u);
    EXPECT_EQ(CleanupOf("map" + suffix).incremental, Removed());
    shard_.Commit();
  }
}

TEST_P(StateMonitorTest, CountsWhatIncrementalCleanUpRemoves) {
  Fill(QuietTtl(), 10);
  shard_.clock().SetMs(kTtlMs);
  const CleanUpResult result = shard_->CleanUp().value();
  EXPECT_EQ(CleanupOf("value").incremental.entries, 10u);
  EXPECT_EQ(CleanupOf("map").incremental.entries, 20u);
  EXPECT_EQ(CleanupOf("value").incremental.entries +
                CleanupOf("list").incremental.entries +
                CleanupOf("map").incremental.entries,
            result.entries_removed);
  for (const char* const state : {"value", "list", "map"}) {
    const StateCleanup cleanup = CleanupOf(state);
    EXPECT_GE(cleanup.incremental.bytes, cleanup.incremental.entries * 100)
        << state;
    EXPECT_LE(cleanup.incremental.bytes, cleanup.incremental.entries * 400)
        << state;
    EXPECT_EQ(cleanup.reads, Removed()) << state;
  }
}

TEST_P(StateMonitorTest, HasWhatWasCountedLast) {
  Fill(QuietTtl(), 10);
  EXPECT_EQ(Of(*shard_->monitor(), "value").live_entries, 0u);
  EXPECT_FALSE(Of(*shard_->monitor(), "value").exact);
  const std::vector<StateStatistics> counted = shard_->Statistics().value();
  EXPECT_EQ(shard_->monitor()->Read({}), counted);
  EXPECT_EQ(Of(*shard_->monitor(), "value").live_entries, 10u);
  EXPECT_TRUE(Of(*shard_->monitor(), "value").exact);
}

TEST_P(StateMonitorTest, OutlivesItsBackend) {
  Fill(QuietTtl(), 1);
  shard_.clock().SetMs(kTtlMs);
  Must(shard_->CleanUp().status());
  const std::shared_ptr<const StateMonitor> monitor = shard_->monitor();
  shard_.Close();
  EXPECT_EQ(Of(*monitor, "value").cleanup.incremental.entries, 1u);
  EXPECT_EQ(Of(*monitor, "value").disk, StateDiskUse());
}

class DiskMonitorTest : public StateMonitorTest {
 protected:
  SweepReport SweepAt(TimestampMs now_ms) {
    shard_.clock().SetMs(now_ms);
    shard_.Commit();
    return shard_->disk_sweeper()->Sweep(kOptions, now_ms).value();
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, DiskMonitorTest,
                         ::testing::Values(kRocksdbTinyTable), SetupName);

TEST_P(DiskMonitorTest, TellsWhatIsThereAndWhenItExpires) {
  Fill(Ttl(kTtlMs), 500);
  auto& plain = shard_.Get(Text("plain"));
  for (int key = 0; key < 500; ++key) {
    shard_->SetCurrentKey("new " + std::to_string(key));
    Must(plain.Update(std::string(100, 'p')));
  }
  shard_.clock().SetMs(50'000);
  auto& value = shard_.Get(Describe<Text>("value", Ttl(kTtlMs)));
  for (int key = 0; key < 500; ++key) {
    shard_->SetCurrentKey("new " + std::to_string(key));
    Must(value.Update(std::string(100, 'v')));
  }
  // Half the staleness later what is in memory goes to files.
  SweepAt(55'000);
  SweepAt(60'000);
  const std::vector<TimestampMs> times = {kTtlMs - 10'000, kTtlMs + 10'000,
                                          2 * kTtlMs};
  const StateDiskUse use = Of(*shard_->monitor(), "value", times).disk;
  EXPECT_EQ(use.files, 1u);
  EXPECT_GT(use.bytes, 0u);
  EXPECT_EQ(use.entries, 1000u);
  EXPECT_EQ(use.oldest_ms, 0);
  EXPECT_EQ(use.expired_bytes, 0u);
  EXPECT_EQ(use.expired_entries, 0u);
  ASSERT_THAT(use.expired_bytes_by, SizeIs(3));
  EXPECT_EQ(use.expired_bytes_by[0], 0u);
  EXPECT_NEAR(static_cast<double>(use.expired_bytes_by[1]) /
                  static_cast<double>(use.bytes),
              0.5, 0.05);
  EXPECT_EQ(use.expired_bytes_by[2], use.bytes);
  EXPECT_EQ(use.bytes_of_unknown_age, 0u);
  EXPECT_EQ(use.purge_clock_ms, 60'000);
  EXPECT_EQ(Of(*shard_->monitor(), "list").disk.entries, 1000u);
  EXPECT_EQ(Of(*shard_->monitor(), "map").disk.entries, 1000u);
  // Without a TTL there are no times to tell of.
  EXPECT_EQ(Of(*shard_->monitor(), "plain").disk.entries, 0u);
  EXPECT_EQ(Of(*shard_->monitor(), "plain").disk.purge_clock_ms, kNeverExpires);

  // Files know the second, not the millisecond.
  shard_.clock().SetMs(kTtlMs + 2'000);
  shard_.Commit();
  const StateDiskUse later = Of(*shard_->monitor(), "value").disk;
  EXPECT_NEAR(static_cast<double>(later.expired_entries), 500, 50);
  EXPECT_NEAR(static_cast<double>(later.expired_bytes) /
                  static_cast<double>(later.bytes),
              0.5, 0.05);
}

TEST_P(DiskMonitorTest, CountsWhatCompactionsAndSweepsRemove) {
  Fill(Ttl(kTtlMs), 200);
  SweepAt(0);
  SweepAt(5'000);
  EXPECT_EQ(CleanupOf("value").sweeps.flushes, 1u);
  shard_.clock().SetMs(kTtlMs);
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(CleanupOf("value").compactions.entries, 200u);
  EXPECT_GE(CleanupOf("value").compactions.bytes, 200 * 100u);
  EXPECT_EQ(CleanupOf("list").compactions.entries, 400u);
  EXPECT_EQ(CleanupOf("map").compactions.entries, 400u);
  EXPECT_EQ(CleanupOf("map").records_unreadable, 0u);

  Fill(Ttl(kTtlMs), 200);
  // To a file, to a deeper level, and away.
  SweepReport all;
  for (TimestampMs now = kTtlMs; now <= 2 * kTtlMs + 20'000; now += 5'000) {
    all += SweepAt(now);
  }
  SweepReport sum;
  const auto states = shard_->monitor()->Read({});
  for (const StateStatistics& state : states) {
    EXPECT_EQ(state.disk.files, 0u) << state.state;
    sum += state.cleanup.sweeps;
  }
  sum.flushes -= 3;  // Before all of these.
  EXPECT_EQ(sum, all);
  EXPECT_EQ(CleanupOf("value").compactions.entries, 400u);
}

TEST_P(DiskMonitorTest, CountsElementsThatMergesLeaveOut) {
  auto& list = shard_.Get(Describe<Texts>("list", Ttl(kTtlMs)));
  shard_->SetCurrentKey("k");
  for (int piece = 0; piece < 3; ++piece) {
    Must(list.Add("e"));
    shard_.Commit();
  }
  shard_.clock().SetMs(kTtlMs);
  shard_.Commit();
  EXPECT_THAT(Read(list), IsEmpty());
  EXPECT_EQ(CleanupOf("list").merge_elements, 3u);
}

TEST_P(DiskMonitorTest, ShowsStatesThatNobodyRegistered) {
  Fill(Ttl(kTtlMs), 100);
  SweepAt(0);
  SweepAt(5'000);
  shard_.Reopen();
  EXPECT_EQ(Of(*shard_->monitor(), "value").disk.entries, 100u);
}

}  // namespace
}  // namespace mayfly::state_test
