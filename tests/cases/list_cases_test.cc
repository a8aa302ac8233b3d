// Cases C22, C23 and C26: lists whose elements hold any bytes, or expire out of
// order.
//
// Stamps out of order come from elements with a TTL of their own: one that is
// added at t and lives for `ttl` is stored with the time t + ttl - 100.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/entry_codec.h"
#include "tests/cases/five_states.h"
#include "tests/unit/state/raw_database.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::RawDatabase;
using state_test::Read;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class ListCasesTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  template <typename T>
  ListState<T>& List() {
    auto& state =
        shard_.Get(Describe<ListStateDescriptor<T>>("list", Ttl(100)));
    shard_->SetCurrentKey("k");
    return state;
  }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }
  void RemoveExpired() {
    cases::RemoveExpired(shard_);
    shard_->SetCurrentKey("k");
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, ListCasesTest, state_test::AllSetups(),
                         SetupName);

TEST_P(ListCasesTest, CaseC22NoByteOfAnElementSeparatesElements) {
  auto* list = &List<std::string>();
  Must(list->Add(","));  // At 0, like those that live for 50 ms from 50 on.
  At(50);
  Must(list->Add("a,b"));
  Must(list->Add(",,,", milliseconds(50)));
  Must(list->Add(""));
  Must(list->Add("z,"));
  shard_.Commit();
  At(60);
  EXPECT_THAT(Read(*list), ElementsAre(",", "a,b", ",,,", "", "z,"));
  At(120);
  RemoveExpired();
  const auto live = ElementsAre("a,b", "", "z,");
  EXPECT_THAT(Read(*list), live);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(Read(List<std::string>()), live);
}

// Elements a@100, b@0 and c@100 in one piece and in three.
class ExpiredBetweenLiveTest : public ListCasesTest {
 protected:
  template <typename T>
  void Expect(T a, T b, T c, bool in_pieces) {
    SCOPED_TRACE(in_pieces);
    At(0);
    ListState<T>& list = List<T>();
    const auto end_piece = [&] {
      if (in_pieces) shard_.Commit();
    };
    if (in_pieces) {
      Must(list.Add(a, milliseconds(200)));
    } else {
      Must(list.Update({a}, milliseconds(200)));
    }
    end_piece();
    Must(list.Add(b));
    end_piece();
    Must(list.Add(c, milliseconds(200)));
    shard_.Commit();
    At(150);
    EXPECT_THAT(Read(list), ElementsAre(a, c));
    RemoveExpired();
    EXPECT_THAT(Read(list), ElementsAre(a, c));
    shard_.Commit();
    ExpectRawIsAList();
    shard_.Reopen();
    EXPECT_THAT(Read(List<T>()), ElementsAre(a, c));
  }

  // What is stored is well framed, whether or not b is still in it.
  void ExpectRawIsAList() {
    shard_.Close();
    if (GetParam().kind == BackendKind::kHeap) return;
    const std::string stored =
        RawDatabase(shard_.options.directory).Get("list", "k");
    ListReader reader(stored);
    std::vector<TimestampMs> stamps;
    while (const auto element = reader.Next()) {
      if (element->timestamp_ms != 0) stamps.push_back(element->timestamp_ms);
    }
    EXPECT_FALSE(reader.malformed());
    EXPECT_THAT(stamps, ElementsAre(100, 100));
  }
};

INSTANTIATE_TEST_SUITE_P(Setups, ExpiredBetweenLiveTest,
                         state_test::AllSetups(), SetupName);

TEST_P(ExpiredBetweenLiveTest, CaseC23InAPutOfNumbers) {
  Expect<std::int64_t>(1, 2, 3, /*in_pieces=*/false);
}
TEST_P(ExpiredBetweenLiveTest, CaseC23InPiecesOfNumbers) {
  Expect<std::int64_t>(1, 2, 3, /*in_pieces=*/true);
}
TEST_P(ExpiredBetweenLiveTest, CaseC23InAPutOfTexts) {
  Expect<std::string>("first", "", "third of them", /*in_pieces=*/false);
}
TEST_P(ExpiredBetweenLiveTest, CaseC23InPiecesOfTexts) {
  Expect<std::string>("first", "", "third of them", /*in_pieces=*/true);
}

TEST_P(ListCasesTest, CaseC26MergedElementsExpireEachAtItsTime) {
  const std::pair<TimestampMs, std::vector<std::string>> expected[] = {
      {119, {"m1", "m2", "m3"}},
      {120, {"m1", "m3"}},
      {122, {"m1", "m3"}},
      {123, {"m3"}},
      {124, {}},
  };
  At(20);
  auto& list = List<std::string>();
  Must(list.Add("m1", milliseconds(103)));
  shard_.Commit();
  Must(list.Add("m2"));
  shard_.Commit();
  Must(list.Add("m3", milliseconds(104)));
  RemoveExpired();  // Merges what is stored, whatever else.
  for (const auto& [now_ms, elements] : expected) {
    At(now_ms);
    EXPECT_THAT(Read(list), ElementsAreArray(elements)) << now_ms;
    RemoveExpired();
    EXPECT_THAT(Read(list), ElementsAreArray(elements)) << now_ms;
  }
  EXPECT_EQ(shard_.CommittedEntries("list"), 0u);
}

}  // namespace
}  // namespace mayfly::cases
