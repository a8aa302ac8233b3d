// No row is forgotten, and none is claimed in vain.
#include "tests/conformance/ledger.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "gtest/gtest.h"

namespace mayfly::conformance {
namespace {

TEST(LedgerTest, FindsTheNumberOfARow) {
  EXPECT_EQ(RowNumberIn("Holds/Row042Compaction_V_Heap"), 42);
  EXPECT_EQ(RowNumberIn("Row140"), 140);
  EXPECT_EQ(RowNumberIn("TwoRowsOfRow007"), 7);
  EXPECT_EQ(RowNumberIn("Row42"), 0);
  EXPECT_EQ(RowNumberIn("NothingForgotten"), 0);
}

TEST(LedgerTest, EachRowIsAccountedForOnce) {
  std::map<int, int> times;
  for (const auto& [number, carriages] : RowsTestedHere()) ++times[number];
  for (const CoveredRow& row : CoveredRows()) ++times[row.number];
  for (const InapplicableRow& row : InapplicableRows()) ++times[row.number];
  for (int number = 1; number <= kRows; ++number) {
    EXPECT_EQ(times[number], 1) << "row " << number;
  }
  EXPECT_EQ(times.size(), static_cast<std::size_t>(kRows));
}

TEST(LedgerTest, EachRowIsCarriedInEachWayUnlessThereIsAReason) {
  for (auto [number, carriages] : RowsTestedHere()) {
    for (const Exemption& exemption : Exemptions()) {
      EXPECT_NE(exemption.reason, "");
      if (exemption.number == number) carriages.insert(exemption.carriage);
    }
    EXPECT_EQ(carriages.size(), kCarriages.size()) << "row " << number;
  }
  for (const CoveredRow& row : CoveredRows()) {
    EXPECT_STRNE(row.where.why_not_carried, "") << "row " << row.number;
  }
}

TEST(LedgerTest, WhatCoversARowIsThere) {
  for (const CoveredRow& row : CoveredRows()) {
    std::ifstream in(std::string(MAYFLY_SOURCE_DIR "/tests/") + row.where.file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    for (const std::string& test : row.tests) {
      EXPECT_NE(text.find(", " + test + ")"), std::string::npos)
          << "no " << test << " in " << row.where.file << " for row "
          << row.number;
    }
  }
}

}  // namespace
}  // namespace mayfly::conformance
