// What becomes of each row.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::conformance {

inline constexpr int kRows = 140;

// A row that tests outside of this suite already show.
struct CoveredRow {
  int number;
  std::string file;                // Below tests/.
  std::vector<std::string> tests;  // As in TEST(Suite, Test).
};
const std::vector<CoveredRow>& CoveredRows();

// A row that does not apply, or not yet.
struct InapplicableRow {
  int number;
  std::string reason;
};
const std::vector<InapplicableRow>& InapplicableRows();

// The number in "...Row007..."; 0 if there is none.
int RowNumberIn(std::string_view test_name);

// The rows of which this program has tests.
std::set<int> RowsTestedHere();

}  // namespace mayfly::conformance
