// What the filter of a whole-file drop does record by record, also with the
// records of neighbours that RocksDB adds to the compaction.
#include "compaction/drop_filter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {
namespace {

using compaction_internal::DropFilter;
using compaction_internal::DropScope;
using compaction_internal::DropTarget;
using Decision = rocksdb::CompactionFilter::Decision;
using ValueType = rocksdb::CompactionFilter::ValueType;

constexpr TimestampMs kNow = 1000;
const char kOutside[] = "";

class DropFilterTest : public ::testing::Test {
 protected:
  // A file of keys from "b" to "d".
  DropTarget Target(EntryLayout layout) {
    clock_->now_ms = kNow;
    ttl_ = MakeTtl(Settings(layout), clock_);
    return {
        .ttl = ttl_.get(), .files = files_, .purge = *ttl_->ReadPurgePoint()};
  }

  // The key after which the filter goes on; kOutside if it did not skip.
  std::string SkipsTo(EntryLayout layout, const char* key,
                      const std::string& stored,
                      ValueType type = ValueType::kValue) {
    const DropTarget target = Target(layout);
    const DropFilter filter(ttl_, target);
    std::string new_value;
    std::string skip_until;
    decision_ = filter.FilterV2(6, key, type, stored, &new_value, &skip_until);
    if (decision_ != Decision::kRemoveAndSkipUntil) return kOutside;
    return skip_until;
  }

  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  const std::vector<SweepFile> files_ = {
      {.name = "file", .smallest_key = "b", .largest_key = "d"}};
  std::shared_ptr<ColumnFamilyTtl> ttl_;
  Decision decision_ = Decision::kKeep;
};

// The first key after the largest of the target: what comes behind it is a
// neighbour's.
const std::string kBehind("d\0", 2);

TEST_F(DropFilterTest, SkipsFromAnExpiredRecordToTheEndOfTheTarget) {
  for (const char* key : {"b", "c", "d"}) {
    EXPECT_EQ(SkipsTo(EntryLayout::kValue, key, Entry(0)), kBehind) << key;
    EXPECT_EQ(SkipsTo(EntryLayout::kList, key, Element(0, "e")), kBehind);
    EXPECT_EQ(SkipsTo(EntryLayout::kList, key, Element(0, "e"),
                      ValueType::kMergeOperand),
              kBehind);
  }
}

TEST_F(DropFilterTest, TreatsNeighboursAsAnyCompactionDoes) {
  for (const char* key : {"", "a", "d!", "e"}) {
    EXPECT_EQ(SkipsTo(EntryLayout::kValue, key, Entry(0)), kOutside) << key;
    EXPECT_EQ(decision_, Decision::kRemove);
    EXPECT_EQ(SkipsTo(EntryLayout::kValue, key, Entry(kNow)), kOutside) << key;
    EXPECT_EQ(decision_, Decision::kKeep);
  }
}

// A neighbour that shares a boundary key, or a file that is not what it said.
TEST_F(DropFilterTest, SkipsNothingFromWhatLivesOrCannotBeRead) {
  const auto keeps = [&](EntryLayout layout, const std::string& stored,
                         ValueType type) {
    EXPECT_EQ(SkipsTo(layout, "b", stored, type), kOutside);
    EXPECT_EQ(decision_, Decision::kKeep);
  };
  keeps(EntryLayout::kValue, Entry(kNow - kTtlMs + 1), ValueType::kValue);
  keeps(EntryLayout::kValue, Entry(kNeverExpires), ValueType::kValue);
  keeps(EntryLayout::kValue, "short", ValueType::kValue);
  keeps(EntryLayout::kValue, Entry(0), ValueType::kMergeOperand);
  keeps(EntryLayout::kValue, Entry(0), ValueType::kBlobIndex);
  keeps(EntryLayout::kList, Element(kNow, "e"), ValueType::kValue);
  keeps(EntryLayout::kList, Element(0, "e") + "torn", ValueType::kValue);
  keeps(EntryLayout::kList, Element(0, "e"), ValueType::kBlobIndex);
  // Of a list with a live element the others go alone.
  EXPECT_EQ(
      SkipsTo(EntryLayout::kList, "b", Element(0, "e") + Element(kNow, "")),
      kOutside);
  EXPECT_EQ(decision_, Decision::kChangeValue);
}

// Compactions of other threads, and of other column families, are none of its
// business: RocksDB makes their filters through the same factory.
TEST_F(DropFilterTest, IsMadeForTheScopesThreadAndColumnFamilyOnly) {
  const DropTarget target = Target(EntryLayout::kValue);
  rocksdb::ColumnFamilyOptions own;
  ConfigureTtlColumnFamily(ttl_, &own);
  rocksdb::ColumnFamilyOptions other;
  ConfigureTtlColumnFamily(MakeTtl(Settings(EntryLayout::kValue), clock_),
                           &other);
  const auto skips = [](const rocksdb::ColumnFamilyOptions& options) {
    const auto filter =
        options.compaction_filter_factory->CreateCompactionFilter({});
    std::string new_value;
    std::string skip_until;
    return filter->FilterV2(6, "c", ValueType::kValue, Entry(0), &new_value,
                            &skip_until) == Decision::kRemoveAndSkipUntil;
  };
  EXPECT_FALSE(skips(own));
  {
    const DropScope scope(target);
    EXPECT_TRUE(skips(own));
    EXPECT_FALSE(skips(other));
    std::thread([&] { EXPECT_FALSE(skips(own)); }).join();
  }
  EXPECT_FALSE(skips(own));
}

}  // namespace
}  // namespace mayfly::compaction_test
