#include "mayfly/serde/entry_codec.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using serde_test::Hex;
using serde_test::Unhex;
using ::testing::ElementsAre;
using ::testing::Pair;

using Elements = std::vector<std::pair<TimestampMs, std::string>>;

Elements ReadAll(ListReader& reader) {
  Elements elements;
  while (const std::optional<EntryView> element = reader.Next()) {
    elements.emplace_back(element->timestamp_ms, element->bytes);
  }
  return elements;
}

TEST(DecodeEntry, SplitsTimestampAndBytes) {
  const std::string stored = Unhex("0000018bcfe56800 6162");
  const std::optional<EntryView> entry = DecodeEntry(stored);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->timestamp_ms, 1700000000000);
  EXPECT_EQ(entry->bytes, "ab");
  EXPECT_EQ(entry->bytes.data(), stored.data() + 8);
}

TEST(DecodeEntry, TakesAnEmptyValueAndTheBoundsOfTime) {
  EXPECT_EQ(DecodeEntry(Unhex("0000000000000000"))->timestamp_ms, 0);
  EXPECT_EQ(DecodeEntry(Unhex("7fffffffffffffff"))->timestamp_ms,
            kNeverExpires);
  EXPECT_EQ(DecodeEntry(Unhex("0000000000000000"))->bytes, "");
}

TEST(DecodeEntry, RefusesWhatIsMalformed) {
  EXPECT_FALSE(DecodeEntry("").has_value());
  EXPECT_FALSE(DecodeEntry(Unhex("00000000000000")).has_value());
  EXPECT_FALSE(DecodeEntry(Unhex("ffffffffffffffff 61")).has_value());
  EXPECT_FALSE(DecodeEntry(Unhex("8000000000000000 61")).has_value());
}

TEST(DecodeEntry, UnstampedIsTheBytesAlone) {
  const std::optional<EntryView> entry =
      DecodeEntry("ab", EntryFormat::kUnstamped);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->timestamp_ms, kNeverExpires);
  EXPECT_EQ(entry->bytes, "ab");
  EXPECT_EQ(DecodeEntry("", EntryFormat::kUnstamped)->bytes, "");
}

TEST(ListElements, HaveTheirExactBytes) {
  std::string list;
  AppendListElement(1, "ab", list);
  AppendListElement(kNeverExpires, "", list);
  EXPECT_EQ(Hex(list),
            "0000000000000001"
            "02000000"
            "6162"
            "7fffffffffffffff"
            "00000000");

  std::string unstamped;
  AppendUnstampedListElement("ab", unstamped);
  AppendUnstampedListElement("", unstamped);
  EXPECT_EQ(Hex(unstamped),
            "020000006162"
            "00000000");
}

TEST(ListElements, LengthIsLittleEndian) {
  std::string header;
  AppendListElementHeader(0, 0x04030201, header);
  EXPECT_EQ(Hex(header),
            "0000000000000000"
            "01020304");
  EXPECT_EQ(header.size(), kListElementHeaderBytes);

  std::string list;
  AppendListElement(0, std::string(300, 'x'), list);
  EXPECT_EQ(Hex(list.substr(8, 4)), "2c010000");
}

// Separators and zeros are bytes like any other.
TEST(ListReader, FindsElementsByLength) {
  std::string list;
  AppendListElement(0, ",", list);
  AppendListElement(50, "a,b", list);
  AppendListElement(0, ",,,", list);
  AppendListElement(50, "", list);
  AppendListElement(50, "z,", list);
  AppendListElement(60, std::string("\0\0", 2), list);
  ListReader reader(list);
  EXPECT_THAT(
      ReadAll(reader),
      ElementsAre(Pair(0, ","), Pair(50, "a,b"), Pair(0, ",,,"), Pair(50, ""),
                  Pair(50, "z,"), Pair(60, std::string("\0\0", 2))));
  EXPECT_FALSE(reader.malformed());
  EXPECT_EQ(reader.rest(), "");
}

TEST(ListReader, ReadsUnstampedElements) {
  std::string list;
  AppendUnstampedListElement("a,b", list);
  AppendUnstampedListElement("", list);
  ListReader reader(list, EntryFormat::kUnstamped);
  EXPECT_THAT(ReadAll(reader),
              ElementsAre(Pair(kNeverExpires, "a,b"), Pair(kNeverExpires, "")));
  EXPECT_FALSE(reader.malformed());
}

TEST(ListReader, EmptyListIsNotMalformed) {
  for (const EntryFormat format :
       {EntryFormat::kStamped, EntryFormat::kUnstamped}) {
    ListReader reader("", format);
    EXPECT_FALSE(reader.Next().has_value());
    EXPECT_FALSE(reader.malformed());
  }
}

// Every proper prefix of a list either ends between elements or is malformed.
TEST(ListReader, SeesEveryTruncation) {
  for (const EntryFormat format :
       {EntryFormat::kStamped, EntryFormat::kUnstamped}) {
    std::string list;
    std::vector<std::size_t> ends = {0};
    for (const std::string_view payload : {"a", "", "bcd"}) {
      if (format == EntryFormat::kStamped) {
        AppendListElement(7, payload, list);
      } else {
        AppendUnstampedListElement(payload, list);
      }
      ends.push_back(list.size());
    }
    for (std::size_t size = 0; size <= list.size(); ++size) {
      ListReader reader(std::string_view(list).substr(0, size), format);
      ReadAll(reader);
      const bool between =
          std::find(ends.begin(), ends.end(), size) != ends.end();
      EXPECT_EQ(reader.malformed(), !between) << size;
    }
  }
}

TEST(ListReader, StopsForGoodAtMalformedBytes) {
  const std::string good = Unhex("0000000000000001 01000000 61");
  const char* const bad_elements[] = {
      "ffffffffffffffff 00000000",     // Negative timestamp.
      "0000000000000001 ffffffff 61",  // Length beyond the end.
      "0000000000000001 02000000 61",  // Length one too long.
      "0000000000000001 000000",       // Cut in the length.
      "00",
  };
  for (const char* const bad : bad_elements) {
    const std::string list = good + Unhex(bad);
    ListReader reader(list);
    EXPECT_TRUE(reader.Next().has_value());
    EXPECT_FALSE(reader.Next().has_value()) << bad;
    EXPECT_TRUE(reader.malformed()) << bad;
    EXPECT_FALSE(reader.Next().has_value()) << bad;
    EXPECT_EQ(reader.rest(), Unhex(bad));
  }
}

}  // namespace
}  // namespace mayfly
