// Running out of memory inside RocksDB's callbacks: nothing may be thrown, and
// nothing may be lost. Also shows what does not allocate at all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "tests/unit/compaction/test_support.h"

namespace {
thread_local bool out_of_memory = false;
}  // namespace

// Not inlined, or GCC takes new and free for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (!out_of_memory) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace mayfly::compaction_test {
namespace {

using Decision = rocksdb::CompactionFilter::Decision;

// While it exists, this thread gets no memory.
class OutOfMemory {
 public:
  OutOfMemory() { out_of_memory = true; }
  ~OutOfMemory() { out_of_memory = false; }
};

class AllocationFailureTest : public ::testing::Test {
 protected:
  void Configure(EntryLayout layout) {
    ttl_ = MakeTtl(Settings(layout), clock_);
    ConfigureTtlColumnFamily(ttl_, &options_);
    clock_->now_ms = 150;
  }
  std::unique_ptr<rocksdb::CompactionFilter> NewFilter() {
    return options_.compaction_filter_factory->CreateCompactionFilter({});
  }
  static Decision FilterOutOfMemory(const rocksdb::CompactionFilter& filter,
                                    const std::string& stored) {
    std::string new_value;
    std::string skip_until;
    const OutOfMemory scope;
    return filter.FilterV2(0, "key", rocksdb::CompactionFilter::kValue, stored,
                           &new_value, &skip_until);
  }

  const std::string live_ = Element(100, std::string(100, 'l'));
  const std::string expired_ = Element(0, std::string(100, 'e'));

  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  std::shared_ptr<ColumnFamilyTtl> ttl_;
  rocksdb::ColumnFamilyOptions options_;
};

TEST_F(AllocationFailureTest, KeepingAndRemovingTakeNoMemory) {
  Configure(EntryLayout::kValue);
  {
    const auto filter = NewFilter();
    EXPECT_EQ(FilterOutOfMemory(*filter, Entry(100)), Decision::kKeep);
    EXPECT_EQ(FilterOutOfMemory(*filter, Entry(0)), Decision::kRemove);
    EXPECT_EQ(FilterOutOfMemory(*filter, "short"), Decision::kKeep);
  }
  EXPECT_EQ(ttl_->counters().failures, 0);

  Configure(EntryLayout::kList);
  {
    const auto filter = NewFilter();
    EXPECT_EQ(FilterOutOfMemory(*filter, live_ + live_), Decision::kKeep);
    EXPECT_EQ(FilterOutOfMemory(*filter, expired_), Decision::kRemove);
    EXPECT_EQ(FilterOutOfMemory(*filter, live_ + "torn"), Decision::kKeep);
  }
  EXPECT_EQ(ttl_->counters().failures, 0);
}

TEST_F(AllocationFailureTest, ListThatCannotBeRewrittenIsKeptAndCounted) {
  Configure(EntryLayout::kList);
  {
    const auto filter = NewFilter();
    EXPECT_EQ(FilterOutOfMemory(*filter, expired_ + live_), Decision::kKeep);
  }
  EXPECT_EQ(ttl_->counters(),
            (CleanupCounters{.passes = 1, .records_seen = 1, .failures = 1}));
}

TEST_F(AllocationFailureTest, CompactionGoesOnWithoutAFilter) {
  Configure(EntryLayout::kValue);
  const OutOfMemory scope;
  EXPECT_EQ(NewFilter(), nullptr);
}

TEST_F(AllocationFailureTest, MergesReportFailure) {
  Configure(EntryLayout::kList);
  const rocksdb::Slice key = "key";
  const std::vector<rocksdb::Slice> operands = {live_, live_};
  const std::deque<rocksdb::Slice> queue = {live_, live_};
  rocksdb::ColumnFamilyOptions plain;
  ConfigurePlainListColumnFamily(&plain);
  for (const auto& merge : {options_.merge_operator, plain.merge_operator}) {
    std::string result;
    rocksdb::Slice existing_operand(nullptr, 0);
    rocksdb::MergeOperator::MergeOperationOutput output(result,
                                                        existing_operand);
    const rocksdb::MergeOperator::MergeOperationInput input(key, nullptr,
                                                            operands, nullptr);
    const OutOfMemory scope;
    EXPECT_FALSE(merge->FullMergeV2(input, &output));
    EXPECT_FALSE(merge->PartialMergeMulti(key, queue, &result, nullptr));
  }
}

}  // namespace
}  // namespace mayfly::compaction_test
