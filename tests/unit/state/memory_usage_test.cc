#include "mayfly/state/internal/memory_usage.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {
namespace {

struct Blob {
  std::size_t bytes = 0;
  std::string text;  // Not trivially copyable: the member below is asked.
  std::size_t MemoryBytes() const { return bytes; }
};

struct Unknown {
  std::string text;
};

std::string Long() { return std::string(100, 'x'); }

TEST(HeapBytesTest, PlainTypesOwnNothing) {
  EXPECT_EQ(HeapBytes(std::int64_t{1}), 0u);
  EXPECT_EQ(HeapBytes(1.5), 0u);
  EXPECT_EQ(HeapBytes(std::optional<std::int64_t>(1)), 0u);
  EXPECT_EQ(HeapBytes(std::pair<int, double>(1, 2)), 0u);
}

TEST(HeapBytesTest, StringsOwnWhatDoesNotFitInside) {
  EXPECT_EQ(HeapBytes(std::string()), 0u);
  EXPECT_EQ(HeapBytes(std::string("short")), 0u);
  EXPECT_EQ(HeapBytes(Long()), 101u);
  // Room to spare does not survive a copy, so it must not count.
  std::string reserved = Long();
  reserved.reserve(1000);
  EXPECT_EQ(HeapBytes(reserved), 101u);
}

TEST(HeapBytesTest, CompositesOwnWhatTheirPartsOwn) {
  EXPECT_EQ(HeapBytes(std::optional<std::string>()), 0u);
  EXPECT_EQ(HeapBytes(std::optional<std::string>(Long())), 101u);
  EXPECT_EQ(HeapBytes(std::pair<std::string, std::string>(Long(), Long())),
            202u);
  EXPECT_EQ(HeapBytes(std::tuple<int, std::string, std::optional<std::string>>(
                1, Long(), Long())),
            202u);
}

TEST(HeapBytesTest, VectorsOwnTheirElements) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(10);
  numbers.push_back(1);
  EXPECT_EQ(HeapBytes(numbers), 8u);

  std::vector<std::string> texts;
  texts.push_back(Long());
  texts.push_back("short");
  EXPECT_EQ(HeapBytes(texts), 2 * sizeof(std::string) + 101);
}

TEST(HeapBytesTest, MapsOwnNodes) {
  const std::map<std::int64_t, std::string> map = {{1, Long()}, {2, ""}};
  EXPECT_GE(HeapBytes(map),
            2 * sizeof(std::pair<const std::int64_t, std::string>) + 101);
  EXPECT_EQ(HeapBytes(std::map<int, int>()), 0u);
}

TEST(HeapBytesTest, TypesMayTell) {
  EXPECT_EQ(HeapBytes(Blob{.bytes = 3'000'000'000, .text = ""}),
            3'000'000'000u);
  EXPECT_EQ(HeapBytes(std::vector<Blob>(2, Blob{.bytes = 7, .text = ""})),
            2 * sizeof(Blob) + 14);
  EXPECT_EQ(HeapBytes(Unknown{Long()}), 0u);
}

TEST(HeapBytesTest, ProtobufMessagesTell) {
  v1::StateRecord record;
  const std::size_t empty = HeapBytes(record);
  record.set_name(std::string(1000, 'x'));
  EXPECT_GE(HeapBytes(record), empty + 1000);
}

}  // namespace
}  // namespace mayfly::state_internal
