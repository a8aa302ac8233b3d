#include "mayfly/serde/partitioner.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "mayfly/serde/serializer.h"

namespace mayfly {
namespace {

// Source: the tests of Kafka's Utils.murmur2 and, from "1234" on, those of
// librdkafka, where every length modulo 4 has its row.
TEST(Murmur2, GivesKafkasValues) {
  const struct {
    std::string_view bytes;
    std::int32_t hash;
  } rows[] = {
      {"21", -973932308},
      {"foobar", -790332482},
      {"a-little-bit-long-string", -985981536},
      {"a-little-bit-longer-string", -1486304829},
      {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
      {"abc", 479470107},
      {"1234", static_cast<std::int32_t>(0x9fc97b14)},
      {"234", static_cast<std::int32_t>(0xe7c009ca)},
      {"34", static_cast<std::int32_t>(0x873930da)},
      {"4", 0x5a4b5ca1},
      {"kafka", static_cast<std::int32_t>(0xd067cf64)},
      {"", 0x106e08d9},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(static_cast<std::int32_t>(Murmur2(row.bytes)), row.hash)
        << row.bytes;
  }
}

TEST(PartitionForKey, IsThePositiveHashModuloPartitions) {
  // 479470107 is positive as it is; -973932308 has its sign bit cleared:
  // 2147483648 - 973932308 = 1173551340.
  EXPECT_EQ(PartitionForKey("abc", 10), 7);
  EXPECT_EQ(PartitionForKey("21", 100), 40);
  EXPECT_EQ(PartitionForKey("21", 7), 1173551340 % 7);
  EXPECT_EQ(PartitionForKey("", 100), 81);
  EXPECT_EQ(PartitionForKey("21", 1), 0);
}

TEST(PartitionForKey, UsesAllPartitionsEvenly) {
  constexpr int kPartitions = 7;
  constexpr std::int64_t kKeysEach = 10'000;
  int counts[kPartitions] = {};
  for (std::int64_t key = 0; key < kPartitions * kKeysEach; ++key) {
    const int partition = PartitionForKey(ToBytes(key), kPartitions);
    ASSERT_GE(partition, 0);
    ASSERT_LT(partition, kPartitions);
    ++counts[partition];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, kKeysEach, 500);
  }
}

TEST(PartitionForKeyDeathTest, AbortsWithoutPartitions) {
  EXPECT_DEATH(PartitionForKey("a", 0), "partitions >= 1");
  EXPECT_DEATH(PartitionForKey("a", -1), "partitions >= 1");
}

}  // namespace
}  // namespace mayfly
