// The style rules, applied to every file of the repository.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lint/rules.h"

namespace mayfly::lint {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;

const std::vector<SourceFile>& Tree() {
  static const auto* const kTree =
      new std::vector<SourceFile>(ReadTree(MAYFLY_SOURCE_DIR));
  return *kTree;
}

void ExpectClean(Findings (*check)(const SourceFile&)) {
  for (const SourceFile& file : Tree()) {
    for (const std::string& finding : check(file)) ADD_FAILURE() << finding;
  }
}

void ExpectClean(Findings (*check)(const std::vector<SourceFile>&)) {
  for (const std::string& finding : check(Tree())) ADD_FAILURE() << finding;
}

// All the other tests would pass on an empty tree.
TEST(Tidy, SeesTheTree) {
  for (const char* path :
       {"CMakeLists.txt", "proto/mayfly/v1/state.proto",
        "serde/include/mayfly/serde/timestamp.h", "tests/lint/tidy_test.cc"}) {
    EXPECT_THAT(Tree(), Contains(Field(&SourceFile::path, path)));
  }
}

TEST(Tidy, IncludesPointDown) { ExpectClean(CheckIncludes); }

TEST(Tidy, PublicHeadersHideDependencies) {
  ExpectClean(CheckHidesDependencies);
}

TEST(Tidy, LibrariesCallNothingBanned) { ExpectClean(CheckBannedCalls); }

TEST(Tidy, PublicHeadersUseStdTypes) { ExpectClean(CheckStdTypes); }

TEST(Tidy, FallibleFunctionsSayHowTheyFail) {
  ExpectClean(CheckErrorsDocumented);
}

TEST(Tidy, FilesAreShort) { ExpectClean(CheckLength); }

TEST(Tidy, EverythingIsBuilt) { ExpectClean(CheckEverythingIsBuilt); }

TEST(Tidy, SnippetsAreBuilt) { ExpectClean(CheckSnippets); }

}  // namespace
}  // namespace mayfly::lint
