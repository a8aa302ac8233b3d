// What compaction threads, readers and operators share, without the database in
// between: under the thread sanitizer, every report is about our code.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {
namespace {

using Decision = rocksdb::CompactionFilter::Decision;

constexpr int kPasses = 200;
constexpr int kRecordsPerPass = 100;

class ConcurrencyTest : public ::testing::Test {
 protected:
  ConcurrencyTest() {
    ColumnFamilyTtlSettings settings = Settings(EntryLayout::kList);
    settings.query_time_after_num_entries = 7;
    settings.rule = Rule(1);
    ttl_ = MakeTtl(settings, clock_);
    ConfigureTtlColumnFamily(ttl_, &options_);
    clock_->now_ms = 1000;
  }

  // A rule of which the two halves are told to belong together.
  static ExpiryRule Rule(int ttl_ms) {
    return {.ttl_ms = ttl_ms, .expired_through_ms = ttl_ms};
  }

  // One compaction after the other, each with a filter of its own.
  void Compact() {
    const std::string half = expired_ + live_;
    for (int pass = 0; pass < kPasses; ++pass) {
      const auto filter =
          options_.compaction_filter_factory->CreateCompactionFilter({});
      for (int record = 0; record < kRecordsPerPass; ++record) {
        std::string new_value;
        std::string skip_until;
        const auto decision =
            filter->FilterV2(0, "key", rocksdb::CompactionFilter::kValue, half,
                             &new_value, &skip_until);
        ASSERT_EQ(decision, Decision::kChangeValue);
        ASSERT_EQ(new_value, live_);
      }
    }
  }

  void MergeUntilDone() {
    const std::deque<rocksdb::Slice> operands = {expired_, live_};
    while (!done_) {
      std::string merged;
      ASSERT_TRUE(options_.merge_operator->PartialMergeMulti("key", operands,
                                                             &merged, nullptr));
      ASSERT_EQ(merged, live_);
      merges_ += 1;
    }
  }

  void ChangeRuleAndClockUntilDone() {
    for (int i = 0; !done_; ++i) {
      ASSERT_TRUE(ttl_->SetRule(Rule(1 + i % 50)).ok());
      clock_->now_ms = 1000 + i % 1000;
      std::this_thread::yield();
    }
  }

  void WatchUntilDone() {
    while (!done_) {
      const ExpiryRule rule = ttl_->rule();
      ASSERT_EQ(rule.ttl_ms, rule.expired_through_ms);
      ASSERT_EQ(ttl_->counters().malformed, 0);
    }
  }

  // Whatever the rule and the time of this test are.
  const std::string expired_ = Element(0, "expired");
  const std::string live_ = Element(2000, "live");

  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  std::shared_ptr<ColumnFamilyTtl> ttl_;
  rocksdb::ColumnFamilyOptions options_;
  std::atomic<bool> done_ = false;
  std::atomic<std::int64_t> merges_ = 0;
};

TEST_F(ConcurrencyTest, FiltersMergesAndOperatorsAgree) {
  std::vector<std::thread> compactions;
  compactions.emplace_back([this] { Compact(); });
  compactions.emplace_back([this] { Compact(); });
  std::vector<std::thread> others;
  others.emplace_back([this] { MergeUntilDone(); });
  others.emplace_back([this] { ChangeRuleAndClockUntilDone(); });
  others.emplace_back([this] { WatchUntilDone(); });
  for (std::thread& thread : compactions) thread.join();
  done_ = true;
  for (std::thread& thread : others) thread.join();

  const CleanupCounters counters = ttl_->counters();
  EXPECT_EQ(counters.passes, 2 * kPasses);
  EXPECT_EQ(counters.records_seen, 2 * kPasses * kRecordsPerPass);
  EXPECT_EQ(counters.entries_expired, 2 * kPasses * kRecordsPerPass);
  EXPECT_EQ(counters.records_rewritten, 2 * kPasses * kRecordsPerPass);
  EXPECT_EQ(counters.merge_elements_expired, merges_);
}

}  // namespace
}  // namespace mayfly::compaction_test
