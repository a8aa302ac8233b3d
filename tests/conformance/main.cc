// Runs the suite and says what became of each row.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/ledger.h"

namespace mayfly::conformance {
namespace {

std::string Joined(const std::set<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += ' ' + std::to_string(number);
  return text.empty() ? " none" : text;
}

class Summary final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const int number = RowNumberIn(test.name());
    if (number == 0) return;
    run_.insert(number);
    if (test.result()->Failed()) failed_.insert(number);
  }

  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    std::set<int> passed = run_;
    for (const int number : failed_) passed.erase(number);
    std::printf("\nConformance rows, of %d:\n", kRows);
    std::printf("%zu passed:%s\n", passed.size(), Joined(passed).c_str());
    std::printf("%zu covered elsewhere:\n", CoveredRows().size());
    for (const CoveredRow& row : CoveredRows()) {
      std::printf("  %3d  tests/%s:", row.number, row.where.file);
      for (const std::string& test : row.tests) {
        std::printf(" %s", test.c_str());
      }
      std::printf("\n");
    }
    std::map<std::string, std::set<std::string>> exempt;
    for (const CoveredRow& row : CoveredRows()) {
      exempt[std::string("  in no way, as ") + row.where.why_not_carried]
          .insert(std::to_string(row.number));
    }
    for (const Exemption& exemption : Exemptions()) {
      exempt[std::string("  by ") + NameOf(exemption.carriage) + ", as " +
             exemption.reason]
          .insert(exemption.program);
    }
    std::printf("not carried:\n");
    for (const auto& [reason, rows] : exempt) {
      std::printf("%s:", reason.c_str());
      for (const std::string& row : rows) std::printf(" %s", row.c_str());
      std::printf("\n");
    }
    std::map<std::string, std::set<int>> by_reason;
    for (const InapplicableRow& row : InapplicableRows()) {
      by_reason[row.reason].insert(row.number);
    }
    std::printf("%zu not applicable:\n", InapplicableRows().size());
    for (const auto& [reason, numbers] : by_reason) {
      std::printf("  %s:%s\n", reason.c_str(), Joined(numbers).c_str());
    }
    std::printf("%zu failed:%s\n", failed_.size(), Joined(failed_).c_str());
  }

 private:
  std::set<int> run_;
  std::set<int> failed_;
};

// The suite opens thousands of small databases, which takes minutes on a disk
// and shows nothing that memory does not. TMPDIR says otherwise.
void PreferMemory() {
  constexpr char kMemory[] = "/dev/shm";
  constexpr std::uintmax_t kPlenty = std::uintmax_t{1} << 30;
  std::error_code missing;
  const auto space = std::filesystem::space(kMemory, missing);
  if (missing || space.available < kPlenty) return;
  ::setenv("TMPDIR", kMemory, /*overwrite=*/0);
}

}  // namespace
}  // namespace mayfly::conformance

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  mayfly::conformance::PreferMemory();
  // gtest owns it from now on.
  ::testing::UnitTest::GetInstance()->listeners().Append(
      new mayfly::conformance::Summary);
  return RUN_ALL_TESTS();
}
