#include "mayfly/state/internal/segmented_map.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace mayfly::state_internal {
namespace {

using IntMap = SegmentedMap<std::int64_t, std::int64_t>;

template <typename K, typename V>
V& Insert(SegmentedMap<K, V>& map, const K& key) {
  return *map.FindOrInsert(key, map.HashOf(key)).first;
}

template <typename K, typename V>
V* Find(SegmentedMap<K, V>& map, const K& key) {
  return map.Find(key, map.HashOf(key));
}

// Each key is found, once over all segments, and nothing else is.
template <typename K, typename V>
void ExpectSame(SegmentedMap<K, V>& map,
                const std::unordered_map<K, V>& expected) {
  ASSERT_EQ(map.size(), expected.size());
  std::size_t walked = 0;
  for (std::size_t i = 0; i < map.segment_count(); ++i) {
    for (const auto& [key, value] : map.segment(i)) {
      ++walked;
      ASSERT_TRUE(expected.contains(key));
      ASSERT_EQ(value, expected.at(key));
    }
  }
  ASSERT_EQ(walked, expected.size());
  for (const auto& [key, value] : expected) {
    const V* const found = Find(map, key);
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(*found, value);
  }
}

TEST(SegmentedMapTest, IsEmptyAtFirst) {
  IntMap map;
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.segment_count(), 1u);
  EXPECT_EQ(Find(map, std::int64_t{1}), nullptr);
  map.Erase(1, map.HashOf(1));
  EXPECT_EQ(map.size(), 0u);
}

TEST(SegmentedMapTest, InsertsDefaultsAndSaysSo) {
  IntMap map;
  const auto [value, inserted] = map.FindOrInsert(7, map.HashOf(7));
  EXPECT_TRUE(inserted);
  EXPECT_EQ(*value, 0);
  *value = 70;
  const auto again = map.FindOrInsert(7, map.HashOf(7));
  EXPECT_FALSE(again.second);
  EXPECT_EQ(*again.first, 70);
  EXPECT_EQ(map.size(), 1u);
}

TEST(SegmentedMapTest, AgreesWithAStandardMapWhileItSplitsAndShrinks) {
  IntMap map;
  std::unordered_map<std::int64_t, std::int64_t> expected;
  std::mt19937_64 random(1);
  constexpr std::int64_t kKeys = 7168 * 12;
  for (int i = 0; i < 400'000; ++i) {
    const auto key = static_cast<std::int64_t>(random() % kKeys);
    // Mostly insertions first, mostly erasures later.
    if (random() % 400'000 > static_cast<std::uint64_t>(i)) {
      Insert(map, key) = i;
      expected[key] = i;
    } else {
      map.Erase(key, map.HashOf(key));
      expected.erase(key);
    }
    if (i % 50'000 == 0) ExpectSame(map, expected);
  }
  ExpectSame(map, expected);
  EXPECT_GE(map.segment_count(), 8u);
}

TEST(SegmentedMapTest, KeepsSegmentsWithinTheirBound) {
  IntMap map;
  constexpr std::int64_t kKeys = 7168 * 8 + 1;
  for (std::int64_t key = 0; key < kKeys; ++key) Insert(map, key) = key;
  EXPECT_EQ(map.size(), static_cast<std::size_t>(kKeys));
  EXPECT_GE(map.segment_count(), 9u);
  for (std::size_t i = 0; i < map.segment_count(); ++i) {
    EXPECT_LE(map.segment(i).size(), IntMap::kSegmentEntriesMax);
    // Halves of a good hash: none is nearly empty.
    EXPECT_GE(map.segment(i).size(), IntMap::kSegmentEntriesMax / 3);
  }
}

TEST(SegmentedMapTest, ErasesByPredicateInOneSegmentOnly) {
  IntMap map;
  std::unordered_map<std::int64_t, std::int64_t> expected;
  for (std::int64_t key = 0; key < 20'000; ++key) {
    Insert(map, key) = key * 10;
    expected[key] = key * 10;
  }
  ASSERT_GE(map.segment_count(), 3u);
  std::vector<std::int64_t> odd;
  for (const auto& [key, value] : map.segment(1)) {
    if (key % 2 == 1) odd.push_back(key);
  }
  const std::size_t erased =
      map.EraseIf(1, [](const std::int64_t& key, std::int64_t& value) {
        return key % 2 == 1 && value == key * 10;
      });
  EXPECT_EQ(erased, odd.size());
  for (const std::int64_t key : odd) expected.erase(key);
  ExpectSame(map, expected);
}

TEST(SegmentedMapTest, ClearStartsAnew) {
  IntMap map;
  for (std::int64_t key = 0; key < 20'000; ++key) Insert(map, key) = key;
  map.Clear();
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.segment_count(), 1u);
  EXPECT_EQ(Find(map, std::int64_t{5}), nullptr);
  Insert(map, std::int64_t{5}) = 50;
  EXPECT_EQ(*Find(map, std::int64_t{5}), 50);
}

TEST(SegmentedMapTest, ErasingAnotherEntryDoesNotMoveValues) {
  IntMap map;
  for (std::int64_t key = 1; key < 100; ++key) Insert(map, key) = key;
  const std::int64_t* const value = Find(map, std::int64_t{1});
  for (std::int64_t key = 2; key < 100; ++key) map.Erase(key, map.HashOf(key));
  EXPECT_EQ(Find(map, std::int64_t{1}), value);
  EXPECT_EQ(*value, 1);
}

// Row 124: a walk over a segment from which most has gone costs more than its
// entries, until its memory is given back.
TEST(SegmentedMapTest, Row124ASparseSegmentIsCountedAndShrunk) {
  IntMap map;
  for (std::int64_t key = 0; key < 7000; ++key) Insert(map, key) = key;
  const std::size_t full = map.SegmentCost(0);
  EXPECT_GE(full, 7000u);
  map.ShrinkIfSparse(0);
  EXPECT_EQ(map.SegmentCost(0), full);
  map.EraseIf(0, [](std::int64_t key, std::int64_t) { return key >= 10; });
  EXPECT_GE(map.SegmentCost(0), 8000u / 16);
  map.ShrinkIfSparse(0);
  EXPECT_LT(map.SegmentCost(0), 20u);
  for (std::int64_t key = 0; key < 10; ++key) {
    EXPECT_EQ(*Find(map, key), key);
  }
}

// A key whose hash says as little as a test wants.
struct PoorlyHashed {
  std::int64_t number = 0;

  friend bool operator==(const PoorlyHashed&, const PoorlyHashed&) = default;

  template <typename H>
  friend H AbslHashValue(H state, const PoorlyHashed& key) {
    return H::combine(std::move(state), key.number % 3);
  }
};

// Splitting cannot help against equal hashes: it must give up, not go on for
// ever or lose entries.
TEST(SegmentedMapTest, CaseC41KeysWithEqualHashesStayApart) {
  SegmentedMap<PoorlyHashed, std::int64_t> map;
  constexpr std::int64_t kKeys = 3 * 7168 + 500;
  for (std::int64_t i = 0; i < kKeys; ++i) {
    Insert(map, PoorlyHashed{i}) = i + 1;
  }
  EXPECT_EQ(map.size(), static_cast<std::size_t>(kKeys));
  for (std::int64_t i = 0; i < kKeys; i += 7) {
    map.Erase(PoorlyHashed{i}, map.HashOf(PoorlyHashed{i}));
  }
  for (std::int64_t i = 0; i < kKeys; ++i) {
    const std::int64_t* const found = Find(map, PoorlyHashed{i});
    ASSERT_EQ(found == nullptr, i % 7 == 0) << i;
    if (found != nullptr) {
      ASSERT_EQ(*found, i + 1);
    }
  }
}

TEST(SegmentedMapTest, HoldsOwningValues) {
  SegmentedMap<std::string, std::vector<std::string>> map;
  for (int i = 0; i < 20'000; ++i) {
    Insert(map, "a key too long for the object " + std::to_string(i))
        .assign(2, std::string(40, static_cast<char>('a' + i % 26)));
  }
  for (int i = 0; i < 20'000; ++i) {
    const auto* const found =
        Find(map, "a key too long for the object " + std::to_string(i));
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->at(1), std::string(40, static_cast<char>('a' + i % 26)));
  }
}

}  // namespace
}  // namespace mayfly::state_internal
