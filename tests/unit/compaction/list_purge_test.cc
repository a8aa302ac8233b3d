#include "compaction/list_purge.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {
namespace {

using compaction_internal::AppendLive;
using compaction_internal::ListScan;
using compaction_internal::ListVerdict;
using compaction_internal::ScanList;

constexpr PurgePoint kPurge = {.rule = {.ttl_ms = kTtlMs}, .now_ms = 1000};
constexpr TimestampMs kExpired = 900;
constexpr TimestampMs kLive = 901;

TEST(ListPurgeTest, VerdictsCountWhatIsExpired) {
  const std::string live = Element(kLive, "live");
  const std::string expired = Element(kExpired, "expired");
  EXPECT_EQ(ScanList(live + live, kPurge).verdict, ListVerdict::kKeep);
  EXPECT_EQ(ScanList("", kPurge).verdict, ListVerdict::kDrop);

  const ListScan all = ScanList(expired + expired, kPurge);
  EXPECT_EQ(all.verdict, ListVerdict::kDrop);
  EXPECT_EQ(all.expired_elements, 2);
  EXPECT_EQ(all.expired_bytes, 2 * expired.size());

  const ListScan some = ScanList(live + expired + live, kPurge);
  EXPECT_EQ(some.verdict, ListVerdict::kRewrite);
  EXPECT_EQ(some.expired_elements, 1);
  EXPECT_EQ(some.expired_bytes, expired.size());

  const ListScan torn = ScanList(expired + "torn", kPurge);
  EXPECT_EQ(torn.verdict, ListVerdict::kMalformed);
  EXPECT_EQ(torn.expired_elements, 0);
}

TEST(ListPurgeTest, AppendsBehindWhatIsThere) {
  std::string out = "before";
  AppendLive(Element(kExpired, "x") + Element(kLive, "y"), kPurge, out);
  EXPECT_EQ(out, "before" + Element(kLive, "y"));
}

// The plain way: element by element, each in a string of its own.
TEST(ListPurgeTest, AgreesWithTheObviousImplementation) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    std::string stored;
    std::string kept;
    std::int64_t expired = 0;
    const int elements = static_cast<int>(random() % 8);
    for (int i = 0; i < elements; ++i) {
      const bool live = random() % 2 == 0;
      const std::string element =
          Element(live ? kLive : kExpired, std::string(random() % 20, 'p'));
      stored += element;
      if (live) kept += element;
      if (!live) ++expired;
    }
    const ListScan scan = ScanList(stored, kPurge);
    ASSERT_EQ(scan.expired_elements, expired);
    ASSERT_EQ(scan.expired_bytes, stored.size() - kept.size());
    ASSERT_EQ(scan.verdict, expired == elements ? ListVerdict::kDrop
                            : expired == 0      ? ListVerdict::kKeep
                                                : ListVerdict::kRewrite);
    std::string out;
    AppendLive(stored, kPurge, out);
    ASSERT_EQ(out, kept);
  }
}

}  // namespace
}  // namespace mayfly::compaction_test
