// The decision table of the filter, on the filter alone. Rows and cases are
// those of Flink's filter tests and of reports from the field.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/options.h"
#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {
namespace {

using Decision = rocksdb::CompactionFilter::Decision;
using ValueType = rocksdb::CompactionFilter::ValueType;

constexpr ValueType kBothTypes[] = {ValueType::kValue,
                                    ValueType::kMergeOperand};

// One filter as RocksDB gets it, and what it decides.
class FilterPass {
 public:
  explicit FilterPass(std::shared_ptr<ColumnFamilyTtl> ttl) {
    rocksdb::ColumnFamilyOptions options;
    ConfigureTtlColumnFamily(std::move(ttl), &options);
    filter_ = options.compaction_filter_factory->CreateCompactionFilter({});
  }

  bool has_filter() const { return filter_ != nullptr; }
  const rocksdb::CompactionFilter& filter() const { return *filter_; }

  Decision Filter(const rocksdb::Slice& stored,
                  ValueType type = ValueType::kValue) {
    new_value.clear();
    std::string skip_until;
    const Decision decision =
        filter_->FilterV2(0, "key", type, stored, &new_value, &skip_until);
    EXPECT_EQ(skip_until, "");
    return decision;
  }

  // Of the last call.
  std::string new_value;

 private:
  std::unique_ptr<rocksdb::CompactionFilter> filter_;
};

class TtlCompactionFilterTest : public ::testing::Test {
 protected:
  FilterPass Pass(const ColumnFamilyTtlSettings& settings) {
    ttl_ = MakeTtl(settings, clock_);
    return FilterPass(ttl_);
  }
  FilterPass Pass(EntryLayout layout) { return Pass(Settings(layout)); }

  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  std::shared_ptr<ColumnFamilyTtl> ttl_;
};

TEST_F(TtlCompactionFilterTest, Row43LayoutNumbersAreFrozen) {
  EXPECT_EQ(static_cast<int>(EntryLayout::kDisabled), 0);
  EXPECT_EQ(static_cast<int>(EntryLayout::kValue), 1);
  EXPECT_EQ(static_cast<int>(EntryLayout::kList), 2);
}

TEST_F(TtlCompactionFilterTest, Row44DisabledFiltersNothing) {
  EXPECT_FALSE(Pass(EntryLayout::kDisabled).has_filter());
}

TEST_F(TtlCompactionFilterTest, Row46ShortValueIsKeptAndCounted) {
  clock_->now_ms = std::numeric_limits<TimestampMs>::max();
  {
    FilterPass pass = Pass(EntryLayout::kValue);
    for (std::size_t size = 0; size < kTimestampBytes; ++size) {
      EXPECT_EQ(pass.Filter(std::string(size, '\0')), Decision::kKeep) << size;
    }
  }
  EXPECT_EQ(ttl_->counters().malformed, 8);
}

TEST_F(TtlCompactionFilterTest, Row47LiveValueIsKept) {
  clock_->now_ms = 1000 + kTtlMs - 1;
  EXPECT_EQ(Pass(EntryLayout::kValue).Filter(Entry(1000)), Decision::kKeep);
}

TEST_F(TtlCompactionFilterTest, Row48ExpiredValueIsRemoved) {
  FilterPass pass = Pass(EntryLayout::kValue);
  for (const TimestampMs late_by : {0, 20}) {
    clock_->now_ms = 1000 + kTtlMs + late_by;
    EXPECT_EQ(pass.Filter(Entry(1000)), Decision::kRemove) << late_by;
    // An entry whose user bytes are empty is an entry.
    EXPECT_EQ(pass.Filter(Entry(1000, "")), Decision::kRemove) << late_by;
  }
}

TEST_F(TtlCompactionFilterTest, TimestampsAtTheEdges) {
  constexpr TimestampMs kMax = std::numeric_limits<TimestampMs>::max();
  FilterPass pass = Pass(EntryLayout::kValue);
  clock_->now_ms = kMax;
  EXPECT_EQ(pass.Filter(Entry(kNeverExpires)), Decision::kKeep);
  // The sum is held at INT64_MAX, which is now.
  EXPECT_EQ(pass.Filter(Entry(kMax - 1)), Decision::kRemove);
  EXPECT_EQ(pass.Filter(Entry(-1)), Decision::kKeep);
  clock_->now_ms = kTtlMs;
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kRemove);
  EXPECT_EQ(pass.Filter(Entry(1)), Decision::kKeep);
  // Far in the future is simply live.
  EXPECT_EQ(pass.Filter(Entry(kMax - 1)), Decision::kKeep);
  EXPECT_EQ(pass.new_value, "");
}

TEST_F(TtlCompactionFilterTest, Row49ClockIsReadEveryTenthRecord) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.query_time_after_num_entries = 10;
  FilterPass pass = Pass(settings);
  EXPECT_EQ(clock_->reads, 0);
  // Kept and unreadable records count among the ten.
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kKeep);
  clock_->now_ms = kTtlMs;
  EXPECT_EQ(pass.Filter("short"), Decision::kKeep);
  for (int call = 3; call <= 10; ++call) {
    EXPECT_EQ(pass.Filter(Entry(0)), Decision::kKeep) << call;
  }
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kRemove);
  EXPECT_EQ(clock_->reads, 2);
}

TEST_F(TtlCompactionFilterTest, CaseC10TimeIsCachedBetweenQueries) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.query_time_after_num_entries = 10;
  clock_->now_ms = 1000;
  FilterPass pass = Pass(settings);
  EXPECT_EQ(pass.Filter(Entry(1000)), Decision::kKeep);
  clock_->now_ms = 1120;
  for (int call = 2; call <= 10; ++call) {
    EXPECT_EQ(pass.Filter(Entry(1000)), Decision::kKeep) << call;
  }
  EXPECT_EQ(pass.Filter(Entry(1000)), Decision::kRemove);
  EXPECT_EQ(clock_->reads, 2);

  for (const std::int64_t every_record : {0, 1}) {
    settings.query_time_after_num_entries = every_record;
    clock_->now_ms = 1000;
    FilterPass fresh = Pass(settings);
    EXPECT_EQ(fresh.Filter(Entry(1000)), Decision::kKeep);
    clock_->now_ms = 1120;
    EXPECT_EQ(fresh.Filter(Entry(1000)), Decision::kRemove);
  }
}

TEST_F(TtlCompactionFilterTest, Row50ValuesAreNotMergedSoOperandsStay) {
  clock_->now_ms = 1000;
  {
    FilterPass pass = Pass(EntryLayout::kValue);
    EXPECT_EQ(pass.Filter(Entry(0), ValueType::kMergeOperand), Decision::kKeep);
  }
  EXPECT_EQ(ttl_->counters().malformed, 1);
}

TEST_F(TtlCompactionFilterTest, Row51LiveListIsKept) {
  clock_->now_ms = 150;
  FilterPass pass = Pass(EntryLayout::kList);
  for (const ValueType type : kBothTypes) {
    EXPECT_EQ(pass.Filter(Element(100, "a") + Element(51, ""), type),
              Decision::kKeep);
  }
}

TEST_F(TtlCompactionFilterTest, Row52ExpiredListIsRemoved) {
  clock_->now_ms = 150;
  FilterPass pass = Pass(EntryLayout::kList);
  for (const ValueType type : kBothTypes) {
    EXPECT_EQ(pass.Filter(Element(0, "a") + Element(50, ""), type),
              Decision::kRemove);
  }
}

TEST_F(TtlCompactionFilterTest, Row53ListLosesItsExpiredHead) {
  clock_->now_ms = 150;
  FilterPass pass = Pass(EntryLayout::kList);
  for (const ValueType type : kBothTypes) {
    EXPECT_EQ(pass.Filter(Element(0, "old") + Element(100, "new"), type),
              Decision::kChangeValue);
    EXPECT_EQ(pass.new_value, Element(100, "new"));
  }
}

TEST_F(TtlCompactionFilterTest, Row121ListLosesExpiredElementsAnywhere) {
  clock_->now_ms = 150;
  FilterPass pass = Pass(EntryLayout::kList);
  EXPECT_EQ(pass.Filter(Element(100, "a") + Element(0, "b") + Element(50, "c") +
                        Element(kNeverExpires, "d") + Element(1, "e")),
            Decision::kChangeValue);
  EXPECT_EQ(pass.new_value, Element(100, "a") + Element(kNeverExpires, "d"));
}

TEST_F(TtlCompactionFilterTest, EmptyListIsRemoved) {
  FilterPass pass = Pass(EntryLayout::kList);
  for (const ValueType type : kBothTypes) {
    EXPECT_EQ(pass.Filter("", type), Decision::kRemove);
  }
}

TEST_F(TtlCompactionFilterTest, Row54BlobIndexIsKept) {
  clock_->now_ms = 1000;
  for (const EntryLayout layout : {EntryLayout::kValue, EntryLayout::kList}) {
    EXPECT_EQ(Pass(layout).Filter(Element(0, ""), ValueType::kBlobIndex),
              Decision::kKeep);
  }
}

TEST_F(TtlCompactionFilterTest, Row135UnreadableListIsKeptWholeAndCounted) {
  clock_->now_ms = std::numeric_limits<TimestampMs>::max();
  const std::string expired = Element(0, "expired");
  std::vector<std::string> damaged = {expired + Element(-1, "negative") +
                                      expired};
  // Cut anywhere but between two elements, and a length past the end.
  for (std::size_t cut = 1; cut < expired.size(); ++cut) {
    damaged.push_back(expired + expired.substr(0, cut));
  }
  damaged.push_back(expired + std::string(kTimestampBytes, '\0') +
                    "\xff\xff\xff\xff");
  {
    FilterPass pass = Pass(EntryLayout::kList);
    for (const std::string& stored : damaged) {
      for (const ValueType type : kBothTypes) {
        // Exactly as large as the bytes, so that sanitizers see an overrun.
        const std::vector<char> exact(stored.begin(), stored.end());
        EXPECT_EQ(pass.Filter({exact.data(), exact.size()}, type),
                  Decision::kKeep);
      }
    }
  }
  EXPECT_EQ(ttl_->counters().malformed,
            static_cast<std::int64_t>(2 * damaged.size()));
  EXPECT_EQ(ttl_->counters().entries_expired, 0);
}

// Pages of a mapping that nobody touches take no memory, so the value can have
// its real size.
TEST_F(TtlCompactionFilterTest, Row136ValueOfTwoGibIsKeptUnread) {
  constexpr std::size_t kLargest = std::numeric_limits<std::int32_t>::max();
  void* const pages =
      mmap(nullptr, kLargest + 1, PROT_READ,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const char* const zeros = static_cast<const char*>(pages);
  clock_->now_ms = kTtlMs;  // A timestamp of zeros is expired.
  {
    FilterPass pass = Pass(EntryLayout::kValue);
    EXPECT_EQ(pass.Filter({zeros, kLargest}), Decision::kRemove);
    EXPECT_EQ(pass.Filter({zeros, kLargest + 1}), Decision::kKeep);
  }
  EXPECT_EQ(ttl_->counters().too_large, 1);
  {
    FilterPass pass = Pass(EntryLayout::kList);
    EXPECT_EQ(pass.Filter({zeros, kLargest + 1}), Decision::kKeep);
  }
  EXPECT_EQ(ttl_->counters().too_large, 1);
  EXPECT_EQ(munmap(pages, kLargest + 1), 0);
}

TEST_F(TtlCompactionFilterTest, InfiniteTtlKeepsEverything) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.rule = {.ttl_ms = kInfiniteTtlMs};
  clock_->now_ms = std::numeric_limits<TimestampMs>::max();
  EXPECT_EQ(Pass(settings).Filter(Entry(0)), Decision::kKeep);
}

TEST_F(TtlCompactionFilterTest, WhatExpiredUnderAnOlderRuleIsRemoved) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.rule = {.ttl_ms = 1000, .expired_through_ms = 5};
  FilterPass pass = Pass(settings);
  EXPECT_EQ(pass.Filter(Entry(5)), Decision::kRemove);
  EXPECT_EQ(pass.Filter(Entry(6)), Decision::kKeep);
}

TEST_F(TtlCompactionFilterTest, NewRuleReachesARunningFilterAtItsNextQuery) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.query_time_after_num_entries = 3;
  clock_->now_ms = 50;
  FilterPass pass = Pass(settings);
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kKeep);
  ASSERT_TRUE(ttl_->SetRule({.ttl_ms = 50}).ok());
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kKeep);
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kKeep);
  EXPECT_EQ(pass.Filter(Entry(0)), Decision::kRemove);
}

TEST_F(TtlCompactionFilterTest, NewQueryTimeActsFromTheNextQueryOn) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
  settings.query_time_after_num_entries = 2;
  FilterPass pass = Pass(settings);
  pass.Filter(Entry(0));
  ASSERT_TRUE(ttl_->SetQueryTimeAfterNumEntries(1).ok());
  pass.Filter(Entry(0));
  EXPECT_EQ(clock_->reads, 1);
  pass.Filter(Entry(0));
  pass.Filter(Entry(0));
  EXPECT_EQ(clock_->reads, 3);
}

TEST_F(TtlCompactionFilterTest, NegativeClockKeepsEverythingUntilItRecovers) {
  clock_->now_ms = -1;
  for (const EntryLayout layout : {EntryLayout::kValue, EntryLayout::kList}) {
    // Far enough back that any time at all would have expired it.
    ColumnFamilyTtlSettings settings = Settings(layout);
    settings.rule.expired_through_ms = 100;
    clock_->now_ms = -1;
    {
      FilterPass pass = Pass(settings);
      EXPECT_EQ(pass.Filter(Element(0, "x")), Decision::kKeep);
      EXPECT_EQ(pass.Filter(""), Decision::kKeep);
      clock_->now_ms = 0;
      EXPECT_EQ(pass.Filter(Element(0, "x")), Decision::kRemove);
    }
    EXPECT_EQ(ttl_->counters().clock_failures, 2);
    EXPECT_EQ(ttl_->counters().records_removed, 1);
  }
}

// Throws at one of its calls.
class ThrowingClock : public TtlClock {
 public:
  ThrowingClock(TimestampMs now_ms, int throw_at_call)
      : now_ms_(now_ms), throw_at_call_(throw_at_call) {}
  TimestampMs NowMs() const override {
    if (++calls_ == throw_at_call_) throw std::runtime_error("no time");
    return now_ms_;
  }

 private:
  const TimestampMs now_ms_;
  const int throw_at_call_;
  mutable int calls_ = 0;
};

TEST_F(TtlCompactionFilterTest, CaseC56NothingEscapesAndTheRestIsRemoved) {
  const auto clock = std::make_shared<ThrowingClock>(200, /*throw_at_call=*/5);
  const std::shared_ptr<ColumnFamilyTtl> ttl =
      MakeTtl(Settings(EntryLayout::kList), clock);
  const std::string expired =
      Element(0, "a") + Element(0, "b") + Element(0, "c");
  const std::string torn = expired.substr(0, expired.size() - 1);
  std::vector<std::string> records(1000, expired);
  records[499] = torn;
  // A second pass sees what the first one kept.
  for (const std::size_t expected_left : {2, 1}) {
    FilterPass pass(ttl);
    std::erase_if(records, [&](const std::string& stored) {
      return pass.Filter(stored) == Decision::kRemove;
    });
    EXPECT_EQ(records.size(), expected_left);
  }
  EXPECT_EQ(records.front(), torn);
  EXPECT_EQ(ttl->counters().clock_failures, 1);
  EXPECT_EQ(ttl->counters().malformed, 2);
  EXPECT_EQ(ttl->counters().records_removed, 999);
}

TEST_F(TtlCompactionFilterTest, CountersAreHandedOverWhenTheFilterEnds) {
  clock_->now_ms = 150;
  const std::string half = Element(0, "old") + Element(100, "new");
  {
    FilterPass pass = Pass(EntryLayout::kList);
    pass.Filter(Element(100, "live"));
    pass.Filter(half);
    pass.Filter(Element(0, "a") + Element(0, "b"));
    pass.Filter("torn");
    EXPECT_EQ(ttl_->counters(), CleanupCounters{});
  }
  const std::string all = Element(0, "a") + Element(0, "b");
  EXPECT_EQ(ttl_->counters(),
            (CleanupCounters{.passes = 1,
                             .records_seen = 4,
                             .entries_expired = 3,
                             .records_removed = 1,
                             .records_rewritten = 1,
                             .bytes_removed = static_cast<std::int64_t>(
                                 Element(0, "old").size() +
                                 std::string("key").size() + all.size()),
                             .malformed = 1}));
}

TEST_F(TtlCompactionFilterTest, Row57DebugLogSaysWhatHappenedUnderWhichKey) {
  clock_->now_ms = 150;
  std::vector<std::string> lines;
  ttl_ = MakeTtl(Settings(EntryLayout::kList), clock_,
                 [&](std::string_view line) { lines.emplace_back(line); });
  FilterPass pass(ttl_);
  pass.Filter(Element(100, "live"));
  EXPECT_TRUE(lines.empty());
  pass.Filter(Element(0, "expired"));
  pass.Filter("torn");
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0],
            "state state: removed under the key that begins with 6b6579");
  EXPECT_EQ(lines[1],
            "state state: kept the unreadable value under the key that begins "
            "with 6b6579");
}

TEST_F(TtlCompactionFilterTest, ThrowingDebugLogDoesNotStopCleanUp) {
  clock_->now_ms = 150;
  ttl_ = MakeTtl(Settings(EntryLayout::kValue), clock_,
                 [](std::string_view) { throw std::runtime_error("full"); });
  EXPECT_EQ(FilterPass(ttl_).Filter(Entry(0)), Decision::kRemove);
  EXPECT_EQ(ttl_->counters().failures, 0);
}

TEST_F(TtlCompactionFilterTest, KeepsRocksDbsContract) {
  const FilterPass pass = Pass(EntryLayout::kValue);
  EXPECT_TRUE(pass.filter().IgnoreSnapshots());
  EXPECT_STREQ(pass.filter().Name(), "mayfly.TtlFilter.v1");
}

}  // namespace
}  // namespace mayfly::compaction_test
