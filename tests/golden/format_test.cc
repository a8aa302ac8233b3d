// What was written once is read for ever, and is what we still write.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_file.h"
#include "tests/unit/serde/hex.h"

namespace mayfly::golden {
namespace {

class FormatTest : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    if (!RegenerationAsked()) return;
    std::ofstream(PathOf(GetParam()), std::ios::binary) << Render(GetParam());
  }
};

TEST_P(FormatTest, IsWrittenByteForByte) {
  EXPECT_EQ(Render(GetParam()), ReadFile(PathOf(GetParam())))
      << PathOf(GetParam()) << " is what older versions have written. If the "
      << "format is new, write it with MAYFLY_REGENERATE_GOLDEN=1.";
}

TEST_P(FormatTest, IsRead) {
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

INSTANTIATE_TEST_SUITE_P(V1, FormatTest, ::testing::ValuesIn(AllFormats()),
                         [](const auto& at) { return at.param.file; });

// A file that no test reads proves nothing.
TEST(GoldenFolder, HoldsOneFileForEachFormat) {
  std::set<std::string> expected;
  for (const Format& format : AllFormats()) expected.insert(PathOf(format));
  std::set<std::string> found;
  for (const auto& entry :
       std::filesystem::directory_iterator(MAYFLY_GOLDEN_FOLDER)) {
    found.insert(entry.path());
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace mayfly::golden
