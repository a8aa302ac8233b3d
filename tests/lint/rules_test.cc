// Each rule on small samples: what it must find, and what it must let pass.
#include "tests/lint/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mayfly::lint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

SourceFile Header(std::string text) {
  return {"state/include/mayfly/state/sample.h", std::move(text)};
}

TEST(SourceFile, KnowsWhatIsPublic) {
  EXPECT_TRUE(Header("").is_public_header());
  EXPECT_FALSE((SourceFile{"state/sample.h", ""}).is_public_header());
  EXPECT_FALSE((SourceFile{"serde/include/mayfly/serde/internal/check.h", ""})
                   .is_public_header());
}

TEST(CodeOnly, BlanksCommentsAndLiterals) {
  EXPECT_EQ(CodeOnly("a; // b\nc;"), "a;     \nc;");
  EXPECT_EQ(CodeOnly("a /* b\nc */ d"), "a     \n     d");
  EXPECT_EQ(CodeOnly(R"(f("x\"y", 'z'))"), "f(      ,    )");
  EXPECT_EQ(CodeOnly("R\"x(\")\" // )x\" a"), std::string(15, ' ') + "a");
  EXPECT_EQ(CodeOnly("3'600'000 + f('a')"), "3'600'000 + f(   )");
}

struct IncludeCase {
  const char* file;
  const char* include;
  const char* finding;  // A part of it; empty if the include is right.
};

class IncludeTest : public ::testing::TestWithParam<IncludeCase> {};

TEST_P(IncludeTest, IsJudged) {
  const IncludeCase& c = GetParam();
  const std::string line = "#include " + std::string(c.include) + "\n";
  const Findings findings = CheckIncludes({c.file, "\n" + line});
  if (std::string(c.finding).empty()) {
    EXPECT_THAT(findings, IsEmpty());
  } else {
    const std::string where = std::string(c.file) + ":2: ";
    EXPECT_THAT(findings,
                ElementsAre(AllOf(StartsWith(where), HasSubstr(c.finding))));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Down, IncludeTest,
    ::testing::Values(
        IncludeCase{"runtime/a.cc", "\"mayfly/state/b.h\"", ""},
        IncludeCase{"runtime/a.cc", "\"runtime/b.h\"", ""},
        IncludeCase{"state/a.cc", "\"mayfly/v1/state.pb.h\"", ""},
        IncludeCase{"state/a.cc", "\"mayfly/serde/internal/check.h\"", ""},
        IncludeCase{"state/a.cc", "\"rocksdb/db.h\"", ""},
        IncludeCase{"state/a.cc", "<vector>", ""},
        IncludeCase{"runtime/a.cc", "\"mayfly/log/b.h\"", ""},
        IncludeCase{"kafka/a.cc", "\"mayfly/log/b.h\"", ""},
        IncludeCase{"testing/a.cc", "\"mayfly/runtime/b.h\"", ""},
        IncludeCase{"tests/unit/a.cc", "\"state/b.h\"", ""},
        IncludeCase{"bench/a.cc", "\"state/b.h\"", ""},
        IncludeCase{"examples/a.cc", "\"mayfly/runtime/b.h\"", ""}));

INSTANTIATE_TEST_SUITE_P(
    Wrong, IncludeTest,
    ::testing::Values(
        IncludeCase{"serde/a.cc", "\"mayfly/state/b.h\"", "points up"},
        IncludeCase{"serde/a.h", "<mayfly/compaction/b.h>", "points up"},
        IncludeCase{"proto/a.cc", "\"mayfly/serde/b.h\"", "points up"},
        IncludeCase{"runtime/a.cc", "\"mayfly/testing/b.h\"", "points up"},
        IncludeCase{"runtime/a.cc", "\"mayfly/kafka/b.h\"", "points up"},
        IncludeCase{"log/a.cc", "\"mayfly/runtime/b.h\"", "points up"},
        IncludeCase{"runtime/a.cc", "\"state/b.h\"", "is internal to state"},
        IncludeCase{"testing/a.cc", "\"state/b.h\"", "is internal to state"},
        IncludeCase{"examples/a.cc", "\"state/b.h\"", "is internal to state"},
        IncludeCase{"examples/a.cc", "\"mayfly/serde/internal/check.h\"",
                    "is not API"},
        IncludeCase{"state/a.cc", "\"tests/b.h\"", "belongs to a program"},
        IncludeCase{"testing/a.cc", "\"bench/b.h\"", "belongs to a program"},
        IncludeCase{"state/a.cc", "\"b.h\"", "has no folder"}));

TEST(HidesDependencies, FindsThemInPublicHeadersOnly) {
  const std::string text = "#include \"rocksdb/db.h\"\n";
  EXPECT_THAT(CheckHidesDependencies(Header(text)),
              ElementsAre(HasSubstr("rocksdb/db.h")));
  EXPECT_THAT(
      CheckHidesDependencies(Header("#include <librdkafka/rdkafka.h>\n")),
      SizeIs(1));
  EXPECT_THAT(CheckHidesDependencies({"kafka/include/mayfly/kafka/a.h",
                                      "#include <librdkafka/rdkafka.h>\n"}),
              SizeIs(1));
  EXPECT_THAT(CheckHidesDependencies({"state/a.cc", text}), IsEmpty());
  EXPECT_THAT(CheckHidesDependencies(
                  {"compaction/include/mayfly/compaction/a.h", text}),
              IsEmpty());
}

class BannedCallTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BannedCallTest, IsFoundInLibrariesOnly) {
  const std::string text = "\nauto x = " + std::string(GetParam()) + ";\n";
  EXPECT_THAT(CheckBannedCalls({"state/a.cc", text}),
              ElementsAre(StartsWith("state/a.cc:2: ")));
  EXPECT_THAT(CheckBannedCalls({"tests/a.cc", text}), IsEmpty());
  EXPECT_THAT(CheckBannedCalls({"state/a.cc", "//" + text.substr(1)}),
              IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, BannedCallTest,
    ::testing::Values("std::chrono::system_clock::now()",
                      "std::chrono::steady_clock::now()",
                      "std::chrono::high_resolution_clock::now()",
                      "absl::Now()", "absl::GetCurrentTimeNanos()",
                      "clock_gettime(CLOCK_REALTIME, &t)", "wait.sleep_for(d)",
                      "absl::SleepFor(d)", "std::this_thread::sleep_until(t)",
                      "absl::Mutex()", "rand()", "std::random_device()()",
                      "std::cout << 1", "std::cerr << 1", "printf(\"x\")"));

TEST(BannedCalls, LetsNamesThatOnlyLookAlikePass) {
  EXPECT_THAT(CheckBannedCalls({"state/a.cc",
                                "operand(1);\nsnprintf(b, n, \"x\");\n"
                                "Log(\"cout\");\nint count;\n"}),
              IsEmpty());
}

TEST(BannedCalls, AllowsTheRealClockInOneFile) {
  const std::string text = "std::chrono::system_clock::now();\n";
  EXPECT_THAT(CheckBannedCalls({"state/system_clock.cc", text}), IsEmpty());
  EXPECT_THAT(CheckBannedCalls({"state/other_clock.cc", text}), SizeIs(1));
}

TEST(StdTypes, FindsAbseilsOwn) {
  EXPECT_THAT(CheckStdTypes(Header("void F(absl::string_view name);\n")),
              ElementsAre(HasSubstr("use std::string_view")));
  EXPECT_THAT(CheckStdTypes(Header("absl::optional<int> x;\n")), SizeIs(1));
  EXPECT_THAT(CheckStdTypes(Header("// absl::string_view\n")), IsEmpty());
  EXPECT_THAT(CheckStdTypes({"state/a.cc", "absl::string_view s;"}), IsEmpty());
}

TEST(ErrorsDocumented, FindsFunctionsThatDoNotSay) {
  EXPECT_THAT(CheckErrorsDocumented(Header("absl::Status F();\n")),
              ElementsAre(AllOf(HasSubstr("sample.h:1: F()"))));
  EXPECT_THAT(CheckErrorsDocumented(Header("// Does it.\n"
                                           "absl::StatusOr<std::vector<int>>\n"
                                           "Read(int n);\n")),
              SizeIs(1));
  EXPECT_THAT(CheckErrorsDocumented(Header("class A {\n public:\n"
                                           "  // Errors: none.\n"
                                           "  absl::Status F();\n\n"
                                           "  virtual absl::Status G() = 0;\n"
                                           "};\n")),
              ElementsAre(HasSubstr("sample.h:6: G()")));
  // One class has nothing to say of the next.
  EXPECT_THAT(CheckErrorsDocumented(Header("// Errors: none.\n"
                                           "class A {\n private:\n"
                                           "  int x;\n};\n"
                                           "class B {\n public:\n"
                                           "  absl::Status F();\n};\n")),
              SizeIs(1));
}

TEST(ErrorsDocumented, AcceptsACommentOfTheFunctionOrItsClass) {
  EXPECT_THAT(
      CheckErrorsDocumented(Header("// Errors: kDataLoss.\n"
                                   "template <typename T>\n"
                                   "absl::StatusOr<T> F(int a,\n"
                                   "                    int b);\n"
                                   "absl::Status SharesTheComment();\n"
                                   "\n"
                                   "// Errors: as F(), in all of them.\n"
                                   "class A {\n"
                                   " public:\n"
                                   "  absl::Status F();\n"
                                   "  struct B {\n"
                                   "    absl::Status G();\n"
                                   "  };\n"
                                   "};\n")),
      IsEmpty());
}

TEST(ErrorsDocumented, AsksOnlyForPublicFunctions) {
  EXPECT_THAT(CheckErrorsDocumented(
                  Header("class A {\n"
                         " public:\n"
                         "  absl::Status F() override;\n"
                         "  std::function<absl::Status(int)> callback;\n\n"
                         " private:\n"
                         "  absl::Status G();\n"
                         "  absl::Status status_;\n"
                         "};\n"
                         "template <>\n"
                         "struct Serializer<int> {\n"
                         "  static absl::StatusOr<int> Read();\n"
                         "};\n"
                         "namespace state_internal {\n"
                         "absl::Status H();\n"
                         "}  // namespace state_internal\n")),
              IsEmpty());
  EXPECT_THAT(CheckErrorsDocumented({"state/a.h", "absl::Status F();\n"}),
              IsEmpty());
  EXPECT_THAT(
      CheckErrorsDocumented(Header("namespace state_internal {\n"
                                   "}  // namespace state_internal\n"
                                   "absl::Status AfterTheInternals();\n")),
      SizeIs(1));
}

TEST(Length, Is600LinesAtMost) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "int x;\n";
  EXPECT_THAT(CheckLength({"state/a.cc", text}), IsEmpty());
  EXPECT_THAT(CheckLength({"state/a.cc", text + "int x;\n"}),
              ElementsAre(HasSubstr("601 lines")));
}

TEST(EverythingIsBuilt, FindsFilesThatNoTargetNames) {
  const SourceFile root{"CMakeLists.txt", "\nproject(x)\nadd_subdirectory(t)"};
  const SourceFile folder{"t/CMakeLists.txt",
                          "mayfly_test(a SOURCES a_test.cc sub/b_test.cc)"};
  EXPECT_THAT(CheckEverythingIsBuilt({root, folder, {"t/a_test.cc", ""}}),
              IsEmpty());
  EXPECT_THAT(CheckEverythingIsBuilt({root, folder, {"t/sub/b_test.cc", ""}}),
              IsEmpty());
  EXPECT_THAT(CheckEverythingIsBuilt({root, folder, {"t/b_test.cc", ""}}),
              ElementsAre(StartsWith("t/b_test.cc: no target")));
  EXPECT_THAT(CheckEverythingIsBuilt({root, folder, {"t/test.cc", ""}}),
              SizeIs(1));
}

TEST(EverythingIsBuilt, FindsFoldersThatNobodyAdds) {
  const SourceFile root{"CMakeLists.txt",
                        "\nproject(x)\nadd_subdirectory(t)\n"
                        "add_subdirectory(t/a)\n"};
  EXPECT_THAT(
      CheckEverythingIsBuilt({root,
                              {"t/CMakeLists.txt", ""},
                              {"t/a/CMakeLists.txt", ""},
                              {"t/own/CMakeLists.txt", "\nproject(y)"}}),
      IsEmpty());
  EXPECT_THAT(CheckEverythingIsBuilt({root, {"t/b/CMakeLists.txt", ""}}),
              ElementsAre(StartsWith("t/b/CMakeLists.txt: not in the build")));
}

TEST(Snippets, MustStandInAnExample) {
  const SourceFile example{
      "examples/a.cc", "int main() {\n  F();\n  if (x) {\n\n    G();\n  }\n}"};
  const auto page = [](const std::string& code) {
    return SourceFile{"README.md", "Text.\n```cpp\n" + code + "```\n"};
  };
  EXPECT_THAT(CheckSnippets({example, page("F();\nif (x) {\n\n  G();\n}\n")}),
              IsEmpty());
  EXPECT_THAT(CheckSnippets({example, page("F();\nG();\n")}),
              ElementsAre(StartsWith("README.md:2: ")));
  EXPECT_THAT(CheckSnippets({example, page("if (x) {\n\nG();\n}\n")}),
              SizeIs(1));
  EXPECT_THAT(CheckSnippets({{"state/a.cc", example.text}, page("F();\n")}),
              SizeIs(1));
}

}  // namespace
}  // namespace mayfly::lint
