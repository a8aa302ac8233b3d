// Who waits for whom while a database is swept. The sweep is held up where it
// reads the clock.
#include "state/rocksdb_sweeper.h"

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::state_test {
namespace {

using compaction_test::Entry;
using compaction_test::TestDatabase;
using state_internal::RocksdbSweeper;

constexpr SweepOptions kOptions{.staleness_max = std::chrono::seconds(1)};
constexpr TimestampMs kNowMs = 1'000'000;

class RocksdbSweeperTest : public ::testing::Test {
 protected:
  RocksdbSweeperTest() {
    // Half of a file has expired, so that it is compacted.
    for (int i = 0; i < 100; ++i) {
      database_.Put(std::to_string(i), Entry(i % 2 == 0 ? 0 : kNowMs));
    }
    database_.Flush();
    database_.clock().now_ms = kNowMs;
    sweeper_.Add("state", &database_.db(), database_.handle(),
                 database_.shared_ttl());
  }

  std::future<absl::StatusOr<SweepReport>> StartSweep() {
    return std::async(std::launch::async,
                      [this] { return sweeper_.Sweep(kOptions, kNowMs); });
  }

  TestDatabase database_{EntryLayout::kValue};
  RocksdbSweeper sweeper_;
};

TEST_F(RocksdbSweeperTest, OnlyWhoReplacesTheStateSweptWaitsForIt) {
  database_.CreateColumnFamily("other", {});
  std::promise<void> sweeping;
  std::promise<void> go_on;
  std::atomic<bool> released = false;
  database_.clock().on_read = [&] {
    sweeping.set_value();
    go_on.get_future().wait();
    released = true;
  };
  auto swept = StartSweep();
  sweeping.get_future().wait();

  // Neither a registration nor the figures.
  sweeper_.Add("other", &database_.db(), database_.handle("other"), nullptr);
  std::map<std::string, StateStatistics> states;
  sweeper_.AddTo({}, states);
  EXPECT_EQ(states.size(), 2u);
  EXPECT_FALSE(released);

  // A column family that is taken out of use may be dropped afterwards.
  std::atomic<bool> replaced = false;
  std::thread replacing([&] {
    sweeper_.Add("state", &database_.db(), database_.handle("other"), nullptr);
    EXPECT_TRUE(released);
    replaced = true;
  });
  for (int i = 0; i < 1000 && !replaced; ++i) std::this_thread::yield();
  go_on.set_value();
  replacing.join();
  EXPECT_THAT(swept.get(), IsOk());
}

TEST_F(RocksdbSweeperTest, ClosingEndsACompactionOfASweep) {
  std::promise<void> closing;
  database_.clock().on_read = [&] {
    // The plan has been made after this reading; the next one is the filter's.
    database_.clock().on_read = [&] {
      closing.set_value();
      // Until RocksDB has been told to stop.
      rocksdb::Status status;
      do {
        status = database_.db().CompactFiles({}, {"no such file"}, 1);
      } while (!status.IsShutdownInProgress());
    };
  };
  auto swept = StartSweep();
  closing.get_future().wait();
  sweeper_.Close();
  EXPECT_THAT(swept.get(), IsOkAndHolds(SweepReport()));
  EXPECT_EQ(database_.Raw().values, 100u);
  EXPECT_THAT(sweeper_.Sweep(kOptions, kNowMs), IsOkAndHolds(SweepReport()));
}

}  // namespace
}  // namespace mayfly::state_test
