// Writes that say how long their own entry lives.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;
using Sum = ReducingStateDescriptor<std::int64_t>;
using Total =
    AggregatingStateDescriptor<std::int64_t, std::int64_t, std::int64_t>;

constexpr TimestampMs kNow = 1'700'000'000'000;

class WriteTtlTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void SetUp() override { shard_->SetCurrentKey("k"); }

  void After(std::int64_t ms) { shard_.clock().SetMs(kNow + ms); }

  // Every entry keeps its time over a commit, a restart and a compaction.
  void Restart() {
    shard_.Commit();
    Must(shard_->Compact());
    shard_.Reopen();
    shard_->SetCurrentKey("k");
  }

  Shard<> shard_{GetParam(), kNow};
};

INSTANTIATE_TEST_SUITE_P(Setups, WriteTtlTest, AllSetups(), SetupName);

TEST_P(WriteTtlTest, ShortensAndLengthensAValue) {
  const Text text = Describe<Text>("value", Ttl(1000));
  for (const std::int64_t ttl_ms : {1, 10, 999, 1000, 1001, 5000}) {
    shard_->SetCurrentKey(std::to_string(ttl_ms));
    Must(shard_.Get(text).Update("v", milliseconds(ttl_ms)));
  }
  Restart();
  for (const std::int64_t ttl_ms : {1, 10, 999, 1000, 1001, 5000}) {
    shard_->SetCurrentKey(std::to_string(ttl_ms));
    After(ttl_ms - 1);
    EXPECT_EQ(Read(shard_.Get(text)), "v") << ttl_ms;
    After(ttl_ms);
    EXPECT_EQ(Read(shard_.Get(text)), std::nullopt) << ttl_ms;
  }
}

TEST_P(WriteTtlTest, IsForOneWriteOnly) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(1000)));
  Must(state.Update("short", milliseconds(10)));
  Must(state.Update("long"));
  After(999);
  EXPECT_EQ(Read(state), "long");
}

TEST_P(WriteTtlTest, TheLongestIsForEver) {
  const Text text = Describe<Text>("value", Ttl(1000));
  Must(shard_.Get(text).Update("v", milliseconds::max()));
  Restart();
  shard_.clock().SetMs(kNeverExpires);
  EXPECT_EQ(Read(shard_.Get(text)), "v");
}

TEST_P(WriteTtlTest, EachListElementHasItsOwn) {
  const Texts texts = Describe<Texts>("list", Ttl(1000));
  auto& state = shard_.Get(texts);
  Must(state.Update({"a", "b"}, milliseconds(30)));
  Must(state.Add("c", milliseconds(20)));
  Must(state.AddAll({"d", "e"}, milliseconds(2000)));
  Must(state.Add("f"));
  Restart();
  After(19);
  EXPECT_THAT(Read(shard_.Get(texts)),
              ElementsAre("a", "b", "c", "d", "e", "f"));
  After(20);
  EXPECT_THAT(Read(shard_.Get(texts)), ElementsAre("a", "b", "d", "e", "f"));
  After(30);
  EXPECT_THAT(Read(shard_.Get(texts)), ElementsAre("d", "e", "f"));
  After(1000);
  EXPECT_THAT(Read(shard_.Get(texts)), ElementsAre("d", "e"));
  After(2000);
  EXPECT_THAT(Read(shard_.Get(texts)), IsEmpty());
}

TEST_P(WriteTtlTest, EachMapEntryHasItsOwn) {
  const TextMap map = Describe<TextMap>("map", Ttl(1000));
  auto& state = shard_.Get(map);
  Must(state.Put("short", "1", milliseconds(10)));
  Must(state.Put("usual", "2"));
  Must(state.Put("long", "3", milliseconds(3000)));
  Restart();
  After(10);
  EXPECT_EQ(Read(shard_.Get(map)), (std::map<std::string, std::string>{
                                       {"usual", "2"}, {"long", "3"}}));
  After(1000);
  EXPECT_EQ(Read(shard_.Get(map)),
            (std::map<std::string, std::string>{{"long", "3"}}));
  After(3000);
  EXPECT_THAT(Read(shard_.Get(map)), IsEmpty());
}

TEST_P(WriteTtlTest, AnAccumulatorHasThatOfTheLastAdd) {
  Sum sum("sum",
          [](const std::int64_t& a, const std::int64_t& b) { return a + b; });
  sum.EnableTimeToLive(Ttl(1000));
  Total total("total",
              {.add = [](const std::int64_t& v, std::int64_t& to) { to += v; },
               .get_result = [](const std::int64_t& of) { return of; }});
  total.EnableTimeToLive(Ttl(1000));
  auto& reducing = shard_.Get(sum);
  auto& aggregating = shard_.Get(total);
  Must(reducing.Add(1));
  Must(reducing.Add(2, milliseconds(10)));
  Must(aggregating.Add(1, milliseconds(10)));
  Must(aggregating.Add(2, milliseconds(2000)));
  After(9);
  EXPECT_EQ(*reducing.Get().value(), 3);
  After(10);
  EXPECT_EQ(reducing.Get().value(), nullptr);
  After(1999);
  EXPECT_EQ(aggregating.Get().value(), 3);
  After(2000);
  EXPECT_EQ(aggregating.Get().value(), std::nullopt);
}

TEST_P(WriteTtlTest, AReadRenewsWhereThatIsLonger) {
  auto& state = shard_.Get(
      Describe<Texts>("list", Ttl(1000, UpdateType::kOnReadAndWrite)));
  Must(state.Add("short", milliseconds(100)));
  Must(state.Add("long", milliseconds(5000)));
  After(50);
  EXPECT_THAT(Read(state), ElementsAre("short", "long"));
  After(1049);
  EXPECT_THAT(state.Get(), IsOk());
  After(2049);
  EXPECT_THAT(Read(state), ElementsAre("long"));
  After(4999);
  EXPECT_THAT(Read(state), ElementsAre("long"));
  After(5998);
  EXPECT_THAT(Read(state), ElementsAre("long"));
  After(6998);
  EXPECT_THAT(Read(state), IsEmpty());
}

// The stored time moves with the state's TTL, as everything does.
TEST_P(WriteTtlTest, MovesAlongWithAChangedTtl) {
  Must(shard_.Get(Describe<Text>("value", Ttl(1000)))
           .Update("v", milliseconds(5000)));
  Restart();
  auto& state = shard_.Get(Describe<Text>("value", Ttl(600)));
  After(4599);
  EXPECT_EQ(Read(state), "v");
  After(4600);
  EXPECT_EQ(Read(state), std::nullopt);
}

// Up to the old TTL before the last commit all is expired for good; a short
// life written after that must not fall into this time.
TEST_P(WriteTtlTest, IsNotExpiredAtOnceWhenTheTtlHasGrown) {
  shard_.Get(Describe<Text>("value", Ttl(1000)));
  Restart();
  auto& state = shard_.Get(Describe<Text>("value", Ttl(100'000)));
  Must(state.Update("v", milliseconds(10)));
  After(9);
  EXPECT_EQ(Read(state), "v");
  After(100'000);
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(WriteTtlTest, RefusesWhatCannotBe) {
  auto& state = shard_.Get(Describe<Text>("value", Ttl(1000)));
  Must(state.Update("old"));
  for (const std::int64_t ttl_ms : {0, -1}) {
    EXPECT_THAT(state.Update("new", milliseconds(ttl_ms)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("'value'"), HasSubstr("> 0 ms"),
                               HasSubstr(std::to_string(ttl_ms)))));
  }
  EXPECT_EQ(Read(state), "old");

  const auto no_ttl =
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no TTL"));
  auto& plain = shard_.Get(Text("plain"));
  EXPECT_THAT(plain.Update("new", milliseconds(1)), no_ttl);
  EXPECT_EQ(Read(plain), std::nullopt);

  auto& infinite = shard_.Get(Describe<Text>(
      "infinite", StateTtlConfig::NewInfiniteBuilder().Build().value()));
  EXPECT_THAT(
      infinite.Update("new", milliseconds(1)),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("infinite")));

  auto& longest = shard_.Get(Describe<Text>("longest", Ttl(kNow + 1000)));
  EXPECT_THAT(longest.Update("new", milliseconds(999)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cannot be stored")));
  Must(longest.Update("new", milliseconds(1000)));
  After(1000);
  EXPECT_EQ(Read(longest), std::nullopt);
}

}  // namespace
}  // namespace mayfly::state_test
