#include "mayfly/serde/state_key.h"

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::Hex;
using serde_test::Unhex;

std::string MapKey(std::string_view key, std::string_view map_key) {
  std::string stored;
  AppendMapKey(key, map_key, stored);
  return stored;
}

std::string MapKeyPrefix(std::string_view key) {
  std::string prefix;
  AppendMapKeyPrefix(key, prefix);
  return prefix;
}

TEST(MapKey, HasItsExactBytes) {
  EXPECT_EQ(Hex(MapKey("ab", "c")),
            "02"
            "6162"
            "63");
  EXPECT_EQ(Hex(MapKey("", "")), "00");
  EXPECT_EQ(Hex(MapKey("a", "")),
            "01"
            "61");
  EXPECT_EQ(Hex(MapKeyPrefix("ab")),
            "02"
            "6162");
  EXPECT_EQ(Hex(MapKeyPrefix(std::string(300, 'x')).substr(0, 4)), "ac027878");

  std::string out = "x";
  AppendMapKey("a", "b", out);
  EXPECT_EQ(Hex(out),
            "78"
            "01"
            "61"
            "62");
}

TEST(MapKey, DecodesToWhatWasEncoded) {
  const std::string stored = MapKey("ab", "c");
  const std::optional<MapKeyView> view = DecodeMapKey(stored);
  EXPECT_EQ(view, (MapKeyView{"ab", "c"}));
  EXPECT_EQ(view->key.data(), stored.data() + 1);
}

TEST(MapKey, RefusesWhatIsMalformed) {
  const char* const rows[] = {
      "",                 // No length.
      "80",               // Length cut off.
      "02 61",            // Fewer bytes than the length says.
      "8100 61",          // Length not in its shortest form.
      "8000",             // The same for zero.
      "ffffffff7f 61",    // Over 32 bits.
      "ffffffffff01 61",  // Too many bytes.
      "ffffffff0f 61",    // Far beyond the end.
  };
  for (const char* const row : rows) {
    EXPECT_FALSE(DecodeMapKey(Unhex(row)).has_value()) << row;
  }
}

// Zero bytes do not cut keys short, as state keys and as map keys alike.
TEST(MapKey, KeepsKeysWithZerosApart) {
  const std::vector<std::string> keys = {std::string("a\0b", 3), "a",
                                         std::string("a\0", 2),
                                         std::string("\0", 1), ""};
  std::map<std::string, std::pair<std::string, std::string>> seen;
  for (const std::string& key : keys) {
    for (const std::string& map_key : keys) {
      const std::string stored = MapKey(key, map_key);
      EXPECT_TRUE(seen.emplace(stored, std::pair(key, map_key)).second)
          << Hex(stored);
      EXPECT_EQ(DecodeMapKey(stored), (MapKeyView{key, map_key}));
    }
  }
  EXPECT_EQ(seen.size(), 25u);
}

TEST(PrefixUpperBound, IsTheNextPrefix) {
  const struct {
    const char* prefix;
    std::optional<const char*> bound;
  } rows[] = {
      {"61", "62"},
      {"03 aa ff", "03 ab"},
      {"03 ab 10", "03 ab 11"},
      {"00", "01"},
      {"7f", "80"},
      {"fe ff ff", "ff"},
      {"ff 00", "ff 01"},
      {"ff ff 00", "ff ff 01"},
      {"ff", std::nullopt},
      {"ff ff", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& row : rows) {
    const std::optional<std::string> bound =
        PrefixUpperBound(Unhex(row.prefix));
    ASSERT_EQ(bound.has_value(), row.bound.has_value()) << row.prefix;
    if (!bound) continue;
    EXPECT_EQ(Hex(*bound), Hex(Unhex(*row.bound))) << row.prefix;
  }
}

// What the range [prefix, bound) of `key` holds of the given stored keys.
std::set<std::string> InRangeOf(std::string_view key,
                                const std::set<std::string>& stored) {
  const std::string prefix = MapKeyPrefix(key);
  const std::optional<std::string> bound = PrefixUpperBound(prefix);
  const auto end = bound ? stored.lower_bound(*bound) : stored.end();
  return std::set<std::string>(stored.lower_bound(prefix), end);
}

// Keys that are prefixes of one another or end in 0xFF, ten entries each: the
// range of a key holds its own entries and no neighbour's.
TEST(MapKeyRange, HoldsOneKeyOnly) {
  const std::vector<std::string> keys = {Unhex("03aaff"), Unhex("03ab10"),
                                         Unhex("ffff"),   Unhex("ffff00"),
                                         Unhex("ff"),     ""};
  std::set<std::string> stored;
  for (const std::string& key : keys) {
    for (int i = 0; i < 10; ++i) {
      stored.insert(MapKey(key, std::string(1, static_cast<char>(i * 28))));
    }
  }
  ASSERT_EQ(stored.size(), 60u);
  for (const std::string& key : keys) {
    const std::set<std::string> in_range = InRangeOf(key, stored);
    EXPECT_EQ(in_range.size(), 10u) << Hex(key);
    for (const std::string& entry : in_range) {
      EXPECT_EQ(DecodeMapKey(entry)->key, key);
    }
  }
}

std::string RandomKey(std::mt19937_64& rng) {
  // Few different bytes and lengths around the limit of a one-byte length, so
  // that keys share prefixes and collide if they can.
  constexpr std::string_view kBytes("\0\1\x7F\x80\xFE\xFF", 6);
  std::string key(rng() % 8 == 0 ? 126 + rng() % 4 : rng() % 4, '\0');
  for (char& c : key) c = kBytes[rng() % kBytes.size()];
  return key;
}

TEST(MapKeyProperty, DifferentPairsNeverShareBytesOrRanges) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 rng(kSeed);
  std::map<std::string, std::pair<std::string, std::string>> pairs;
  std::set<std::string> stored;
  std::set<std::string> keys;
  std::map<std::string, std::size_t> entries_of;
  for (int i = 0; i < 5'000; ++i) {
    const std::pair pair(RandomKey(rng), RandomKey(rng));
    const std::string bytes = MapKey(pair.first, pair.second);
    const auto [at, fresh] = pairs.emplace(bytes, pair);
    ASSERT_EQ(at->second, pair) << Hex(bytes);
    ASSERT_EQ(DecodeMapKey(bytes), (MapKeyView{pair.first, pair.second}));
    stored.insert(bytes);
    keys.insert(pair.first);
    if (fresh) ++entries_of[pair.first];
  }
  ASSERT_GT(keys.size(), 100u);
  for (const std::string& key : keys) {
    ASSERT_EQ(InRangeOf(key, stored).size(), entries_of[key]) << Hex(key);
    for (const std::string& other : keys) {
      if (key == other) continue;
      ASSERT_FALSE(MapKeyPrefix(other).starts_with(MapKeyPrefix(key)))
          << Hex(key) << " " << Hex(other);
    }
  }
}

}  // namespace
}  // namespace mayfly
