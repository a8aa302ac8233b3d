#include "mayfly/testing/temp_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace mayfly {
namespace {

TEST(TempDirectoryTest, GoesWithAllThatIsInIt) {
  std::string path;
  {
    const TempDirectory directory;
    path = directory.path();
    EXPECT_TRUE(std::filesystem::is_empty(path));
    std::filesystem::create_directory(directory.Path("sub"));
    std::ofstream(directory.Path("sub/file")) << "x";
    EXPECT_EQ(directory.Path("sub"), path + "/sub");
    EXPECT_TRUE(std::filesystem::exists(path + "/sub/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempDirectoryTest, IsNobodyElses) {
  const TempDirectory one;
  const TempDirectory other;
  EXPECT_NE(one.path(), other.path());
}

}  // namespace
}  // namespace mayfly
