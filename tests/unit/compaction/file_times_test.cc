#include "mayfly/compaction/file_times.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compaction/file_times_collector.h"
#include "gtest/gtest.h"
#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {
namespace {

using compaction_internal::AddRecord;

TEST(FileTimesTest, OfNothing) {
  const FileTimes times;
  EXPECT_EQ(times.entries(), 0u);
  EXPECT_EQ(times.oldest_ms(), std::nullopt);
  EXPECT_EQ(times.newest_ms(), std::nullopt);
  EXPECT_EQ(times.BytesThrough(kNeverExpires), 0u);
  EXPECT_TRUE(times.AllThrough(0));
  EXPECT_EQ(FileTimes::Parse(times.Serialize()), times);
}

TEST(FileTimesTest, KnowsTheExtremesExactly) {
  FileTimes times;
  for (const TimestampMs at : {5000, 1000, 9999}) times.Add(at, 10);
  EXPECT_EQ(times.oldest_ms(), 1000);
  EXPECT_EQ(times.newest_ms(), 9999);
  EXPECT_EQ(times.BytesThrough(999), 0u);
  EXPECT_GT(times.BytesThrough(1000), 0u);
  EXPECT_LT(times.BytesThrough(9998), 30u);
  EXPECT_EQ(times.BytesThrough(9999), 30u);
  EXPECT_FALSE(times.AllThrough(9998));
  EXPECT_TRUE(times.AllThrough(9999));
}

TEST(FileTimesTest, WhatNeverExpiresIsNeverThrough) {
  FileTimes times;
  times.Add(1000, 10);
  times.Add(kNeverExpires, 5);
  EXPECT_EQ(times.never_entries(), 1u);
  EXPECT_EQ(times.never_bytes(), 5u);
  EXPECT_FALSE(times.AllThrough(kNeverExpires - 1));
  EXPECT_EQ(times.BytesThrough(kNeverExpires - 1), 10u);
}

TEST(FileTimesTest, WhatCannotBeReadIsNeverThrough) {
  FileTimes times;
  times.Add(1000, 10);
  times.AddMalformed();
  EXPECT_FALSE(times.AllThrough(2000));
}

// Against a plain list of all entries: counts are exact, and a share is wrong
// by no more than two buckets, which are a sixty-fourth of the span or so.
TEST(FileTimesTest, EstimatesSharesOfAnySpan) {
  std::mt19937_64 random(7);
  for (int span_bits = 0; span_bits < 62; ++span_bits) {
    const std::uint64_t start = random() % (std::uint64_t{1} << 60);
    FileTimes times;
    FileTimes halves[2];
    std::vector<std::pair<TimestampMs, std::uint64_t>> plain;
    std::uint64_t total = 0;
    for (int i = 0; i < 2000; ++i) {
      const auto at = static_cast<TimestampMs>(
          start + random() % (std::uint64_t{1} << span_bits));
      const std::uint64_t bytes = 90 + random() % 20;
      times.Add(at, bytes);
      halves[i % 2].Add(at, bytes);
      plain.emplace_back(at, bytes);
      total += bytes;
    }
    halves[0].Merge(halves[1]);
    EXPECT_EQ(times.bytes(), total);
    EXPECT_EQ(halves[0].bytes(), total);
    EXPECT_EQ(halves[0].newest_ms(), times.newest_ms());
    for (int i = 0; i < 20; ++i) {
      const auto through = static_cast<TimestampMs>(
          start + random() % (std::uint64_t{1} << span_bits));
      std::uint64_t expected = 0;
      for (const auto& [at, bytes] : plain) {
        if (at <= through) expected += bytes;
      }
      // A span that is shorter than the smallest bucket is one bucket.
      const double allowed = span_bits < 16 ? 1.0 : 0.06;
      EXPECT_NEAR(static_cast<double>(times.BytesThrough(through)),
                  static_cast<double>(expected),
                  allowed * static_cast<double>(total))
          << span_bits;
      EXPECT_NEAR(static_cast<double>(halves[0].BytesThrough(through)),
                  static_cast<double>(expected),
                  allowed * static_cast<double>(total))
          << span_bits;
    }
    EXPECT_EQ(FileTimes::Parse(times.Serialize()), times);
  }
}

TEST(FileTimesTest, TakesTheLatestTimesThereAre) {
  FileTimes times;
  times.Add(0, 1);
  times.Add(kNeverExpires - 1, 2);
  EXPECT_LE(times.BytesThrough(0), 1u);
  EXPECT_EQ(times.BytesThrough(kNeverExpires - 1), 3u);
  EXPECT_TRUE(times.AllThrough(kNeverExpires - 1));
  EXPECT_EQ(FileTimes::Parse(times.Serialize()), times);
}

TEST(FileTimesTest, ParsesNothingElse) {
  FileTimes times;
  times.Add(1000, 10);
  const std::string good = times.Serialize();
  EXPECT_EQ(FileTimes::Parse(good.substr(0, good.size() - 1)), std::nullopt);
  EXPECT_EQ(FileTimes::Parse("\xff\xff\xff"), std::nullopt);
  // Entries without a newest one: fields 3 alone.
  EXPECT_EQ(FileTimes::Parse(std::string("\x18\x01", 2)), std::nullopt);
  // Bytes, field 4, that no bucket holds.
  EXPECT_EQ(FileTimes::Parse(std::string("\x20\x01", 2)), std::nullopt);
}

TEST(FileTimesTest, OfRecords) {
  FileTimes values;
  AddRecord(EntryLayout::kValue, "key", Entry(1000, "value"), values);
  AddRecord(EntryLayout::kValue, "key", "short", values);
  EXPECT_EQ(values.entries(), 1u);
  EXPECT_EQ(values.bytes(), 3u + 8u + 5u);
  EXPECT_EQ(values.malformed_records(), 1u);

  FileTimes lists;
  AddRecord(EntryLayout::kList, "key",
            Element(3000, "a") + Element(1000, "bc") + Element(2000, ""),
            lists);
  EXPECT_EQ(lists.entries(), 3u);
  EXPECT_EQ(lists.oldest_ms(), 1000);
  EXPECT_EQ(lists.newest_ms(), 3000);
  EXPECT_EQ(lists.bytes(), 3u + 3 * 12u + 3u);
  // An empty list holds nothing that could live.
  AddRecord(EntryLayout::kList, "key", "", lists);
  EXPECT_TRUE(lists.AllThrough(3000));
  EXPECT_EQ(lists.entries(), 3u);
}

// Nothing of it is ever removed: what could be read of it counts for nothing.
TEST(FileTimesTest, OfAListThatCannotBeReadToItsEnd) {
  FileTimes times;
  AddRecord(EntryLayout::kList, "key", Element(200'000, "a"), times);
  AddRecord(EntryLayout::kList, "key",
            Element(1000, "older") + Element(300'000, "newer") +
                Element(kNeverExpires, "") + "torn",
            times);
  EXPECT_EQ(times.malformed_records(), 1u);
  EXPECT_EQ(times.entries(), 1u);
  EXPECT_EQ(times.never_entries(), 0u);
  EXPECT_EQ(times.never_bytes(), 0u);
  EXPECT_EQ(times.oldest_ms(), 200'000);
  EXPECT_EQ(times.newest_ms(), 200'000);
  EXPECT_EQ(times.bytes(), 3u + 12u + 1u);
  EXPECT_FALSE(times.AllThrough(200'000));
  times.Add(400'000, 1);
  EXPECT_EQ(times.BytesThrough(199'000), 0u);
  EXPECT_EQ(times.BytesThrough(399'000), 16u);
}

}  // namespace
}  // namespace mayfly::compaction_test
