#include "mayfly/state/list_state.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Texts = ListStateDescriptor<std::string>;
using Numbers = ListStateDescriptor<std::int64_t>;

constexpr UpdateType kReadToo = UpdateType::kOnReadAndWrite;
constexpr StateVisibility kShowExpired =
    StateVisibility::kReturnExpiredIfNotCleanedUp;

class ListStateTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  ListState<std::string>& Texts100(
      UpdateType update = UpdateType::kOnCreateAndWrite,
      StateVisibility visibility = StateVisibility::kNeverReturnExpired) {
    auto& state =
        shard_.Get(Describe<Texts>("list", Ttl(100, update, visibility)));
    shard_->SetCurrentKey("k");
    return state;
  }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, ListStateTest, AllSetups(), SetupName);

TEST_P(ListStateTest, AppendsInOrderPerKey) {
  auto& state = shard_.Get(Texts("list"));
  shard_->SetCurrentKey("a");
  EXPECT_THAT(Read(state), IsEmpty());
  Must(state.Add("1"));
  Must(state.AddAll({"2", "3"}));
  shard_->SetCurrentKey("b");
  Must(state.Add("4"));
  shard_.Commit();
  shard_->SetCurrentKey("a");
  Must(state.Add("5"));
  EXPECT_THAT(Read(state), ElementsAre("1", "2", "3", "5"));
  shard_.Commit();
  Must(state.Add("6"));
  EXPECT_THAT(Read(state), ElementsAre("1", "2", "3", "5", "6"));
  shard_->SetCurrentKey("b");
  EXPECT_THAT(Read(state), ElementsAre("4"));
  EXPECT_EQ(shard_.CommittedEntries("list"), 6u);
}

TEST_P(ListStateTest, TheRangeIsARange) {
  auto& state = shard_.Get(Texts("list"));
  shard_->SetCurrentKey("a");
  EXPECT_TRUE(state.Get().value().empty());
  Must(state.AddAll({"1", "22"}));
  const ListRange<std::string> range = state.Get().value();
  EXPECT_EQ(range.size(), 2u);
  EXPECT_FALSE(range.empty());
  EXPECT_EQ(range[1], "22");
  EXPECT_EQ(range.begin()->size(), 1u);
  EXPECT_EQ(std::distance(range.begin(), range.end()), 2);
  // A second walk sees the same.
  EXPECT_THAT(std::vector<std::string>(range.begin(), range.end()),
              ElementsAre("1", "22"));
}

TEST_P(ListStateTest, Row116EmptyAddsNothingAndEmptyUpdateClears) {
  auto& state = Texts100();
  Must(state.AddAll({}));
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
  Must(state.Add("1"));
  Must(state.AddAll({}));
  EXPECT_THAT(Read(state), ElementsAre("1"));
  Must(state.Update({}));
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
}

TEST_P(ListStateTest, UpdateReplacesWhatIsStoredUnread) {
  auto& state = Texts100();
  Must(state.AddAll({"1", "2"}));
  shard_.Commit();
  shard_->SetCurrentKey("other");
  shard_->SetCurrentKey("k");
  At(50);
  Must(state.Update({"3"}));
  Must(state.Add("4"));
  EXPECT_THAT(Read(state), ElementsAre("3", "4"));
  shard_.Commit();
  EXPECT_THAT(Read(state), ElementsAre("3", "4"));
  Must(state.Clear());
  Must(state.Add("5"));
  EXPECT_THAT(Read(state), ElementsAre("5"));
  EXPECT_EQ(shard_.CommittedEntries("list"), 1u);
  Must(state.Clear());
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
  EXPECT_THAT(Read(state), IsEmpty());
}

TEST_P(ListStateTest, WithoutACurrentKeyNothingWorks) {
  auto& state = shard_.Get(Texts("list"));
  const auto refuses =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("state 'list'"), HasSubstr("SetCurrentKey")));
  EXPECT_THAT(state.Get(), refuses);
  EXPECT_THAT(state.Add("1"), refuses);
  EXPECT_THAT(state.AddAll({"1"}), refuses);
  EXPECT_THAT(state.AddAll({}), refuses);
  EXPECT_THAT(state.Update({"1"}), refuses);
  EXPECT_THAT(state.Clear(), refuses);
}

TEST_P(ListStateTest, WithoutTtlNothingExpires) {
  auto& state = shard_.Get(Texts("list"));
  shard_->SetCurrentKey("a");
  Must(state.Add("1"));
  shard_.Commit();
  Must(state.Add("2"));
  At(std::numeric_limits<std::int64_t>::max());
  shard_.Commit();
  Must(shard_->Compact());
  shard_.Reopen();
  auto& restored = shard_.Get(Texts("list"));
  shard_->SetCurrentKey("a");
  EXPECT_THAT(Read(restored), ElementsAre("1", "2"));
}

TEST_P(ListStateTest, ElementsExpireOneByOne) {
  auto& state = Texts100();
  Must(state.Add("0"));
  At(10);
  Must(state.AddAll({"10", "10 too"}));
  At(20);
  Must(state.Add("20"));
  At(99);
  EXPECT_THAT(Read(state), SizeIs(4));
  At(100);
  EXPECT_THAT(Read(state), ElementsAre("10", "10 too", "20"));
  At(110);
  EXPECT_THAT(Read(state), ElementsAre("20"));
  At(120);
  EXPECT_THAT(Read(state), IsEmpty());
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
}

TEST_P(ListStateTest, UpdateStampsAllWithOneTime) {
  auto& state = Texts100();
  Must(state.Add("old"));
  At(50);
  Must(state.Update({"1", "2"}));
  At(149);
  EXPECT_THAT(Read(state), ElementsAre("1", "2"));
  At(150);
  EXPECT_THAT(Read(state), IsEmpty());
}

TEST_P(ListStateTest, Row108ReadAndWriteRewritesTheLiveOnesWithOneTime) {
  auto& state = Texts100(kReadToo);
  Must(state.Add("0"));
  At(40);
  Must(state.Add("40"));
  At(60);
  Must(state.Add("60"));
  shard_.Commit();
  At(100);
  EXPECT_THAT(Read(state), ElementsAre("40", "60"));
  EXPECT_EQ(shard_.CommittedEntries("list"), 2u);
  At(199);
  shard_.Reopen();
  // Both bear 100: a read at 199 that may not renew sees both, at 200 none.
  auto& restored = Texts100();
  EXPECT_THAT(Read(restored), ElementsAre("40", "60"));
  At(200);
  EXPECT_THAT(Read(restored), IsEmpty());
}

TEST_P(ListStateTest, Row109ThenReturnsExpiredOnesOnce) {
  auto& state = Texts100(kReadToo, kShowExpired);
  Must(state.Add("0"));
  At(40);
  Must(state.AddAll({"40", "40 too"}));
  shard_.Commit();
  At(100);
  EXPECT_THAT(Read(state), ElementsAre("0", "40", "40 too"));
  EXPECT_THAT(Read(state), ElementsAre("40", "40 too"));
  EXPECT_EQ(shard_.CommittedEntries("list"), 2u);
  EXPECT_THAT(Read(state), ElementsAre("40", "40 too"));
}

TEST_P(ListStateTest, ReturnedOnceEvenIfOnlyOneOfManyHasExpired) {
  auto& state = Texts100(UpdateType::kOnCreateAndWrite, kShowExpired);
  Must(state.Add("0"));
  At(50);
  for (int i = 0; i < 20; ++i) Must(state.Add("50"));
  shard_.Commit();
  At(100);
  EXPECT_THAT(Read(state), SizeIs(21));
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(Read(Texts100(UpdateType::kOnCreateAndWrite, kShowExpired)),
              SizeIs(20));
}

// Flink clears the list here: its iterator checks old stamps with a new clock.
TEST_P(ListStateTest, Row110ContentsSurviveALateWalk) {
  auto& state = Texts100(kReadToo);
  Must(state.AddAll({"1", "2"}));
  At(50);
  const ListRange<std::string> range = state.Get().value();
  At(120);
  EXPECT_EQ(std::distance(range.begin(), range.end()), 2);
  EXPECT_THAT(Read(state), ElementsAre("1", "2"));
}

// And here it loses the element that was added in between.
TEST_P(ListStateTest, Row111AnElementAddedAfterAReadSurvives) {
  auto& state = Texts100();
  Must(state.Add("old"));
  shard_.Commit();
  EXPECT_THAT(Read(state), ElementsAre("old"));
  At(90);
  Must(state.Add("new"));
  At(120);
  EXPECT_THAT(Read(state), ElementsAre("new"));
  EXPECT_THAT(Read(state), ElementsAre("new"));
}

TEST_P(ListStateTest, CaseC22ElementsMayHoldAnyBytes) {
  auto& state = Texts100();
  Must(state.Add(","));
  At(50);
  Must(state.Add("a,b"));
  shard_.Commit();
  At(0);
  Must(state.Add(",,,"));
  Must(state.AddAll({"", "z,", std::string("\0\0", 2)}));
  At(60);
  EXPECT_THAT(Read(state),
              ElementsAre(",", "a,b", ",,,", "", "z,", std::string("\0\0", 2)));
  At(120);
  shard_.Commit();
  Must(shard_->Compact());
  const auto left = ElementsAre("a,b", ",,,", "", "z,", std::string("\0\0", 2));
  EXPECT_THAT(Read(state), left);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(Read(Texts100()), left);
}

TEST_P(ListStateTest, CaseC25ListsBuiltByAddingAloneShrink) {
  auto& state = shard_.Get(Describe<Numbers>("list", Ttl(100)));
  for (const TimestampMs now_ms : {0, 10, 20}) {
    At(now_ms);
    for (int key = 0; key < 100; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      Must(state.Add(now_ms));
    }
    shard_.Commit();
  }
  const auto expect = [&](const std::vector<std::int64_t>& elements) {
    for (int key = 0; key < 100; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      ASSERT_EQ(Read(state), elements);
    }
  };
  expect({0, 10, 20});
  At(115);
  shard_.Commit();
  Must(shard_->Compact());
  expect({20});
  At(200);
  shard_.Commit();
  Must(shard_->Compact());
  expect({});
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
}

// The last element was refreshed last, so each has its own time.
TEST_P(ListStateTest, CaseC26MergedElementsKeepTheirTimes) {
  auto& state = Texts100();
  const auto add = [&](TimestampMs now_ms) {
    At(now_ms);
    Must(state.Add(std::to_string(now_ms)));
    shard_.Commit();
  };
  add(20);
  add(23);
  add(24);
  Must(shard_->Compact());
  At(119);
  EXPECT_THAT(Read(state), ElementsAre("20", "23", "24"));
  for (const auto& [now_ms, left] : {std::pair(120, 2), std::pair(122, 2),
                                     std::pair(123, 1), std::pair(124, 0)}) {
    At(now_ms);
    EXPECT_THAT(Read(state), SizeIs(left)) << now_ms;
    shard_.Commit();
    Must(shard_->Compact());
    EXPECT_THAT(Read(state), SizeIs(left)) << now_ms;
  }
}

TEST_P(ListStateTest, CaseC32ALongListOfLargeElementsComesBackWhole) {
  auto& state = Texts100();
  const std::string mebibyte(std::size_t{1} << 20, 'm');
  for (int i = 0; i < 64; ++i) {
    Must(state.Add(mebibyte + std::to_string(i)));
    if (i % 4 == 0) shard_.Commit();
  }
  shard_.Commit();
  Must(shard_->Compact());
  shard_.Reopen();
  auto& restored = Texts100();
  const ListRange<std::string> range = restored.Get().value();
  ASSERT_EQ(range.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_EQ(range[i].size(), mebibyte.size() + std::to_string(i).size());
    ASSERT_TRUE(range[i].ends_with("m" + std::to_string(i)));
  }
}

// Reads of a list that lies in many pieces must see all of them, before and
// after it is put together.
TEST_P(ListStateTest, ManyPiecesArePutTogetherInOrder) {
  auto& state = shard_.Get(Describe<Numbers>("list", Ttl(1000)));
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 50; ++i) {
    shard_->SetCurrentKey("k");
    Must(state.Add(i));
    expected.push_back(i);
    shard_.Commit();
    shard_->SetCurrentKey("other");
    if (i % 7 == 6) {
      shard_->SetCurrentKey("k");
      ASSERT_EQ(Read(state), expected);
    }
  }
  shard_.Commit();
  shard_.Reopen();
  auto& restored = shard_.Get(Describe<Numbers>("list", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(restored), expected);
  Must(restored.Add(50));
  expected.push_back(50);
  shard_.Commit();
  EXPECT_EQ(Read(restored), expected);
  EXPECT_EQ(shard_.StoredEntries("list"), 51u);
}

}  // namespace
}  // namespace mayfly::state_test
