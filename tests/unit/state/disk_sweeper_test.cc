// Expired bytes leave the disk of a shard that nobody writes to.
#include "mayfly/state/disk_sweeper.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/sweep_scheduler.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;

constexpr std::int64_t kTtlMs = 100'000;
constexpr SweepOptions kOptions{.staleness_max = milliseconds(10'000)};

class DiskSweeperTest : public ::testing::Test {
 protected:
  // Entries of three states; what lies in memory is as stored as the rest.
  void Fill(int from, int to) {
    auto& value = shard_.Get(Describe<Text>("value", Ttl(kTtlMs)));
    auto& list = shard_.Get(Describe<Texts>("list", Ttl(kTtlMs)));
    auto& map = shard_.Get(Describe<TextMap>("map", Ttl(kTtlMs)));
    for (int key = from; key < to; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      Must(value.Update(std::string(100, 'v')));
      Must(list.Add(std::string(100, 'e')));
      Must(map.Put("m", std::string(100, 'v')));
    }
    shard_.Commit();
  }

  // An idle shard commits, so that what expires does so for the sweep, too.
  SweepReport SweepAt(TimestampMs now_ms) {
    shard_.clock().SetMs(now_ms);
    shard_.Commit();
    return shard_->disk_sweeper()->Sweep(kOptions, now_ms).value();
  }

  std::uint64_t Stored() {
    return shard_.StoredEntries("value") + shard_.StoredEntries("list") +
           shard_.StoredEntries("map");
  }

  Shard<> shard_{kRocksdbTinyTable};
};

TEST_F(DiskSweeperTest, AnIdleShardShrinksWithinTheBound) {
  Fill(0, 1000);
  EXPECT_EQ(Stored(), 3000u);
  for (TimestampMs now = 0; now < kTtlMs; now += 10'000) SweepAt(now);
  EXPECT_EQ(Stored(), 3000u);
  SweepReport report;
  for (TimestampMs now = kTtlMs; now <= kTtlMs + 10'000; now += 5'000) {
    report += SweepAt(now);
  }
  EXPECT_EQ(Stored(), 0u);
  const auto states = shard_->monitor()->Read({});
  for (const StateStatistics& state : states) {
    EXPECT_EQ(state.disk.bytes, 0u) << state.state;
  }
}

TEST_F(DiskSweeperTest, CaseC49ABusyShardShrinksWithinTheBound) {
  // A key is written each second and never again.
  for (int second = 0; second < 300; ++second) {
    shard_.clock().SetMs(second * 1000);
    Fill(second, second + 1);
    SweepAt(second * 1000);
  }
  // Those of the last 100 s live; of those before, at most what expired within
  // the bound and two sweeps is left.
  EXPECT_GE(Stored(), 3 * 100u);
  EXPECT_LE(Stored(), 3 * (100u + 10u + 3u));
}

TEST_F(DiskSweeperTest, OutlivesItsBackend) {
  Fill(0, 10);
  const std::shared_ptr<DiskSweeper> sweeper = shard_->disk_sweeper();
  shard_.Close();
  EXPECT_THAT(sweeper->Sweep(kOptions, 1'000'000), IsOkAndHolds(SweepReport()));
}

TEST_F(DiskSweeperTest, RefusesOptionsOutOfRange) {
  Fill(0, 1);
  EXPECT_THAT(
      shard_->disk_sweeper()->Sweep({.expired_share = 2}, 0),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expired_share")));
}

TEST(DiskSweeperOnHeapTest, IsNotThere) {
  EXPECT_EQ(Shard<>(kHeap)->disk_sweeper(), nullptr);
}

// Says what it was asked for.
class FakeSweeper final : public DiskSweeper {
 public:
  absl::StatusOr<SweepReport> Sweep(const SweepOptions&,
                                    TimestampMs now_ms) override {
    swept_at.push_back(now_ms);
    if (!status.ok()) return status;
    return report;
  }
  std::vector<TimestampMs> swept_at;
  SweepReport report;
  absl::Status status;
};

class SweepSchedulerTest : public ::testing::Test {
 protected:
  // Second by second, until then.
  void RunUntil(SweepScheduler& scheduler, TimestampMs until_ms) {
    for (; clock_->NowMs() <= until_ms; clock_->Advance(milliseconds(1000))) {
      while (scheduler.RunDue()) {
      }
    }
  }

  const std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(1'000'000);
};

TEST_F(SweepSchedulerTest, SweepsOnceAnInterval) {
  SweepScheduler scheduler({.interval = milliseconds(60'000), .seed = 7},
                           clock_);
  const auto sweeper = std::make_shared<FakeSweeper>();
  scheduler.Add("shard-0", sweeper);
  RunUntil(scheduler, 1'000'000 + 10 * 60'000);
  ASSERT_EQ(sweeper->swept_at.size(), 10u);
  EXPECT_LE(sweeper->swept_at[0], 1'060'000);
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_EQ(sweeper->swept_at[i] - sweeper->swept_at[i - 1], 60'000);
  }
  EXPECT_THAT(scheduler.History(), SizeIs(10));
}

// Case C110: fifty shards that were added in the same millisecond.
TEST_F(SweepSchedulerTest, CaseC110SpreadsOverTheInterval) {
  SweepScheduler scheduler(
      {.interval = milliseconds(3'600'000), .concurrency = 64, .seed = 7},
      clock_);
  for (int i = 0; i < 50; ++i) {
    scheduler.Add("shard", std::make_shared<FakeSweeper>());
  }
  std::vector<int> in_tenth(10, 0);
  RunUntil(scheduler, 1'000'000 + 3'600'000);
  for (const SweepRecord& record : scheduler.History()) {
    ++in_tenth[static_cast<std::size_t>((record.start_ms - 1'000'000) /
                                        360'100)];
  }
  EXPECT_EQ(scheduler.History().size(), 50u);
  for (const int count : in_tenth) EXPECT_LE(count, 15);
  EXPECT_GE(std::count_if(in_tenth.begin(), in_tenth.end(),
                          [](int count) { return count > 0; }),
            8);
}

TEST_F(SweepSchedulerTest, ComesBackSoonToWorkThatIsLeft) {
  SweepScheduler scheduler({.interval = milliseconds(60'000)}, clock_);
  const auto sweeper = std::make_shared<FakeSweeper>();
  sweeper->report.steps_left = 1;
  scheduler.Add("shard-0", sweeper);
  RunUntil(scheduler, 1'000'000 + 120'000);
  ASSERT_GE(sweeper->swept_at.size(), 2u);
  EXPECT_EQ(sweeper->swept_at[1] - sweeper->swept_at[0], 6'000);
}

TEST_F(SweepSchedulerTest, GoesOnAfterAnError) {
  SweepScheduler scheduler({.interval = milliseconds(1000)}, clock_);
  const auto sweeper = std::make_shared<FakeSweeper>();
  sweeper->status = absl::ResourceExhaustedError("full");
  scheduler.Add("shard-0", sweeper);
  RunUntil(scheduler, 1'010'000);
  EXPECT_GE(sweeper->swept_at.size(), 9u);
  EXPECT_THAT(scheduler.History().back().status,
              StatusIs(absl::StatusCode::kResourceExhausted, "full"));
}

TEST_F(SweepSchedulerTest, PausesAndResumes) {
  SweepScheduler scheduler({.interval = milliseconds(1000)}, clock_);
  const auto sweeper = std::make_shared<FakeSweeper>();
  scheduler.Add("shard-0", sweeper);
  scheduler.Pause();
  EXPECT_TRUE(scheduler.paused());
  RunUntil(scheduler, 1'010'000);
  EXPECT_THAT(sweeper->swept_at, IsEmpty());
  scheduler.Resume();
  EXPECT_TRUE(scheduler.RunDue());
  EXPECT_FALSE(scheduler.RunDue());
}

TEST_F(SweepSchedulerTest, AClockThatIsSetBackHoldsNothingUpForLong) {
  SweepScheduler scheduler({.interval = milliseconds(60'000)}, clock_);
  const auto sweeper = std::make_shared<FakeSweeper>();
  scheduler.Add("shard-0", sweeper);
  RunUntil(scheduler, 1'120'000);
  clock_->SetMs(1000);
  const std::size_t before = sweeper->swept_at.size();
  RunUntil(scheduler, 62'000);
  EXPECT_EQ(sweeper->swept_at.size(), before + 1);
}

TEST_F(SweepSchedulerTest, ItsThreadsSweepAndEnd) {
  std::promise<std::string> swept;
  const auto sweeper = std::make_shared<FakeSweeper>();
  {
    SweepScheduler scheduler({.interval = milliseconds(1000)}, clock_);
    scheduler.Add("heap", nullptr);
    scheduler.Add("shard-0", sweeper);
    clock_->Advance(milliseconds(1000));
    Must(scheduler.Start(
        [&](const SweepRecord& record) { swept.set_value(record.shard); }));
    EXPECT_EQ(swept.get_future().get(), "shard-0");
  }
  EXPECT_THAT(sweeper->swept_at, ElementsAre(1'001'000));
}

TEST_F(SweepSchedulerTest, StartsOnce) {
  const auto refuses = StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("make another one"));
  SweepScheduler scheduler({}, clock_);
  EXPECT_THAT(scheduler.Start(), IsOk());
  EXPECT_THAT(scheduler.Start(), refuses);
  scheduler.Stop();
  EXPECT_THAT(scheduler.Start(), refuses);
}

TEST(SweepScheduleTest, IsChecked) {
  EXPECT_THAT(Validate(SweepSchedule()), IsOk());
  EXPECT_THAT(
      Validate({.interval = milliseconds(999)}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("interval must be at least 1000 ms, got 999")));
  EXPECT_THAT(
      Validate({.concurrency = 0}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("concurrency")));
  EXPECT_THAT(
      Validate({.sweep = {.bytes_max = 0}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bytes_max")));
}

}  // namespace
}  // namespace mayfly::state_test
