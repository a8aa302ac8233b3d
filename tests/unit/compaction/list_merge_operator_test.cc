#include "compaction/list_merge_operator.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "mayfly/compaction/merged_operands.h"
#include "mayfly/serde/entry_codec.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {
namespace {

using rocksdb::MergeOperator;

std::string FullMerge(const MergeOperator& merge,
                      const std::optional<std::string>& base,
                      const std::vector<std::string>& operands) {
  const rocksdb::Slice key = "key";
  const std::string base_bytes = base.value_or("");
  const rocksdb::Slice base_slice = base_bytes;
  const std::vector<rocksdb::Slice> slices(operands.begin(), operands.end());
  // RocksDB promises an empty string, and its iterators break that.
  std::string result = "left over";
  rocksdb::Slice existing_operand(nullptr, 0);
  MergeOperator::MergeOperationOutput output(result, existing_operand);
  EXPECT_TRUE(merge.FullMergeV2(
      MergeOperator::MergeOperationInput(
          key, base.has_value() ? &base_slice : nullptr, slices, nullptr),
      &output));
  EXPECT_EQ(existing_operand.data(), nullptr);
  return result;
}

// Nullopt if the operator leaves the operands apart.
std::optional<std::string> PartialMerge(
    const MergeOperator& merge, const std::vector<std::string>& operands) {
  const std::deque<rocksdb::Slice> slices(operands.begin(), operands.end());
  std::string result;
  if (!merge.PartialMergeMulti("key", slices, &result, nullptr)) {
    EXPECT_EQ(result, "");
    return std::nullopt;
  }
  return result;
}

bool IsMalformed(const std::string& stored) {
  ListReader reader(stored);
  while (reader.Next().has_value()) {
  }
  return reader.malformed();
}

class ListMergeOperatorTest : public ::testing::Test {
 protected:
  ListMergeOperatorTest() {
    clock_->now_ms = 1000;
    rocksdb::ColumnFamilyOptions options;
    ConfigureTtlColumnFamily(ttl_, &options);
    merge_ = options.merge_operator;
  }

  const std::string live_ = Element(901, "live");
  const std::string expired_ = Element(900, "expired");

  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  const std::shared_ptr<ColumnFamilyTtl> ttl_ =
      MakeTtl(Settings(EntryLayout::kList), clock_);
  std::shared_ptr<MergeOperator> merge_;
};

TEST_F(ListMergeOperatorTest, NamesAreFrozen) {
  EXPECT_STREQ(merge_->Name(), "mayfly.TtlListAppend.v1");
  EXPECT_STREQ(compaction_internal::ListAppendOperator().Name(),
               "mayfly.ListAppend.v1");
}

TEST_F(ListMergeOperatorTest, AppendsInOrder) {
  const std::string a = Element(950, "a");
  const std::string bc = Element(940, "b") + Element(999, "");
  EXPECT_EQ(FullMerge(*merge_, live_, {a, bc}), live_ + a + bc);
  EXPECT_EQ(FullMerge(*merge_, std::nullopt, {a, bc}), a + bc);
  EXPECT_EQ(PartialMerge(*merge_, {a, bc}), a + bc);
}

TEST_F(ListMergeOperatorTest, LeavesOutWhatIsExpiredWhereverItIs) {
  EXPECT_EQ(FullMerge(*merge_, expired_ + live_, {expired_, live_ + expired_}),
            live_ + live_);
  EXPECT_EQ(PartialMerge(*merge_, {expired_, live_ + expired_ + live_}),
            live_ + live_);
  EXPECT_EQ(ttl_->counters(), (CleanupCounters{.merge_elements_expired = 5}));
}

TEST_F(ListMergeOperatorTest, NothingLiveMergesToAnEmptyList) {
  EXPECT_EQ(FullMerge(*merge_, expired_, {expired_}), "");
  EXPECT_EQ(PartialMerge(*merge_, {expired_, expired_}), "");
}

TEST_F(ListMergeOperatorTest, ReadsTheClockOncePerMerge) {
  FullMerge(*merge_, live_, {live_, live_, live_});
  EXPECT_EQ(clock_->reads, 1);
}

TEST_F(ListMergeOperatorTest, ReaderCanTellHowManyPiecesItMerged) {
  ResetMergedOperands();
  FullMerge(*merge_, live_, {live_, expired_});
  FullMerge(*merge_, std::nullopt, {live_});
  FullMerge(compaction_internal::ListAppendOperator(), live_, {live_, live_});
  EXPECT_EQ(MergedOperands(), 5);
  ResetMergedOperands();
  EXPECT_EQ(MergedOperands(), 0);
}

TEST_F(ListMergeOperatorTest, NewRuleActsAtOnce) {
  ASSERT_TRUE(ttl_->SetRule({.ttl_ms = 50}).ok());
  EXPECT_EQ(FullMerge(*merge_, live_, {Element(951, "x")}), Element(951, "x"));
}

TEST_F(ListMergeOperatorTest, ClockThatCannotTellDropsNothing) {
  clock_->now_ms = -1;
  EXPECT_EQ(FullMerge(*merge_, expired_, {expired_}), expired_ + expired_);
  EXPECT_EQ(PartialMerge(*merge_, {expired_, expired_}), expired_ + expired_);
  EXPECT_EQ(ttl_->counters().clock_failures, 2);
}

TEST_F(ListMergeOperatorTest, UnreadableOperandsStayApart) {
  EXPECT_EQ(PartialMerge(*merge_, {live_, "torn", live_}), std::nullopt);
  EXPECT_EQ(ttl_->counters().merge_malformed, 1);
}

TEST_F(ListMergeOperatorTest, UnreadablePieceIsCarriedOverVerbatim) {
  const std::string negative = Element(-5, "negative");
  EXPECT_EQ(FullMerge(*merge_, expired_ + live_, {"torn"}), live_ + "torn");
  EXPECT_EQ(FullMerge(*merge_, expired_ + live_, {negative, live_}),
            live_ + negative + live_);
  // Expired elements of a piece that cannot be read to its end stay in it.
  EXPECT_EQ(FullMerge(*merge_, std::nullopt, {expired_ + negative}),
            expired_ + negative);
}

// The torn element lacks eight bytes of payload. It would find them in what is
// appended, the timestamp of the next element, and the list would read as one
// of two elements that nobody wrote.
TEST_F(ListMergeOperatorTest, TornPieceNeverTurnsIntoData) {
  std::string torn;
  AppendListElementHeader(950, 8, torn);
  // Behind the timestamp, a length and a payload that make up a header.
  const std::string bait = Element(950, std::string("\0\0\0\0\0\0\0\0", 8));
  ASSERT_TRUE(IsMalformed(torn));
  ASSERT_FALSE(IsMalformed(torn + bait));

  const std::string merged = FullMerge(*merge_, torn, {bait});
  EXPECT_TRUE(IsMalformed(merged));
  EXPECT_EQ(merged, std::string(8, '\xff') + torn + bait);
  // The mark is set once, not at every merge.
  EXPECT_EQ(FullMerge(*merge_, merged, {live_}), merged + live_);
}

// Whatever is merged in whatever order and groups: readable pieces stay
// readable, one unreadable piece makes the list unreadable for ever, and its
// bytes are all there.
TEST_F(ListMergeOperatorTest, DamageStaysDamageInAnyHistory) {
  std::mt19937_64 random(7);
  int damaged_rounds = 0;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    std::optional<std::string> list;
    std::vector<std::string> damage;
    for (int step = 0; step < 6; ++step) {
      std::vector<std::string> operands;
      for (auto n = random() % 3 + 1; n > 0; --n) {
        std::string piece =
            Element(901 + static_cast<TimestampMs>(random() % 100),
                    std::string(random() % 12, '\0'));
        if (random() % 12 == 0) {
          piece.resize(1 + random() % (piece.size() - 1));
          damage.push_back(piece);
        }
        operands.push_back(piece);
      }
      list = FullMerge(*merge_, list, operands);
      ASSERT_EQ(IsMalformed(*list), !damage.empty());
    }
    for (const std::string& piece : damage) {
      ASSERT_NE(list->find(piece), std::string::npos);
    }
    damaged_rounds += damage.empty() ? 0 : 1;
  }
  EXPECT_GT(damaged_rounds, 500);
  EXPECT_LT(damaged_rounds, 2500);
}

TEST(PlainListAppendTest, ConcatenatesAnyBytes) {
  rocksdb::ColumnFamilyOptions options;
  ConfigurePlainListColumnFamily(&options);
  ASSERT_NE(options.merge_operator, nullptr);
  EXPECT_EQ(options.compaction_filter_factory, nullptr);
  std::string unstamped;
  AppendUnstampedListElement("one", unstamped);
  EXPECT_EQ(FullMerge(*options.merge_operator, unstamped, {"x", "", "yz"}),
            unstamped + "xyz");
  EXPECT_EQ(FullMerge(*options.merge_operator, std::nullopt, {"x"}), "x");
  EXPECT_EQ(PartialMerge(*options.merge_operator, {"x", "yz"}), "xyz");
}

}  // namespace
}  // namespace mayfly::compaction_test
