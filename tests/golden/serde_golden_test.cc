// What was written once is read for ever, and is what we still write.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/serde_formats.h"
#include "tests/unit/serde/hex.h"

namespace mayfly::golden {
namespace {

std::vector<Format> AllFormats() {
  std::vector<Format> formats = StorageFormats();
  for (Format& format : SerializerFormats()) {
    formats.push_back(std::move(format));
  }
  return formats;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void RegenerateIfAsked(const Format& format) {
  const char* const asked = std::getenv("MAYFLY_REGENERATE_GOLDEN");
  if (asked == nullptr || std::string(asked) != "1") return;
  std::ofstream(PathOf(format), std::ios::binary) << Render(format);
}

class SerdeGoldenTest : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override { RegenerateIfAsked(GetParam()); }
};

TEST_P(SerdeGoldenTest, IsWrittenByteForByte) {
  EXPECT_EQ(Render(GetParam()), ReadFile(PathOf(GetParam())))
      << PathOf(GetParam()) << " is what older versions have written. If the "
      << "format is new, write it with MAYFLY_REGENERATE_GOLDEN=1.";
}

TEST_P(SerdeGoldenTest, IsRead) {
  const std::vector<std::string> stored =
      ParseSamples(ReadFile(PathOf(GetParam())));
  ASSERT_EQ(stored.size(), GetParam().samples.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const Sample& sample = GetParam().samples[i];
    EXPECT_TRUE(sample.reads_back(stored[i]))
        << sample.label << ": " << serde_test::Hex(stored[i]);
    EXPECT_FALSE(sample.reads_back(stored[i] + "x")) << sample.label;
  }
}

INSTANTIATE_TEST_SUITE_P(V1, SerdeGoldenTest, ::testing::ValuesIn(AllFormats()),
                         [](const auto& format) { return format.param.file; });

// A file that no test reads proves nothing.
TEST(GoldenFolder, HoldsOneFileForEachFormat) {
  std::set<std::string> expected;
  for (const Format& format : AllFormats()) expected.insert(PathOf(format));
  std::set<std::string> found;
  for (const auto& entry :
       std::filesystem::directory_iterator(MAYFLY_GOLDEN_DIR "/v1/serde")) {
    found.insert(entry.path());
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace mayfly::golden
