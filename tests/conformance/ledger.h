// What becomes of each row.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/carriage.h"

namespace mayfly::conformance {

inline constexpr int kRows = 140;

// Tests outside of this suite.
struct Elsewhere {
  const char* file;  // Below tests/.
  const char* why_not_carried;
};

// A row that they already show.
struct CoveredRow {
  int number;
  Elsewhere where;
  std::vector<std::string> tests;  // As in TEST(Suite, Test).
};
const std::vector<CoveredRow>& CoveredRows();

// A row that does not apply, or not yet.
struct InapplicableRow {
  int number;
  std::string reason;
};
const std::vector<InapplicableRow>& InapplicableRows();

// The ways of carrying that test programs of a row lack, each with its reason.
struct Exemption {
  int number;
  std::string program;
  Carriage carriage;
  std::string reason;
};
std::vector<Exemption> Exemptions();

// The number in "...Row007..."; 0 if there is none.
int RowNumberIn(std::string_view test_name);

// The rows of which this program has tests, and how each is carried there.
std::map<int, std::set<Carriage>> RowsTestedHere();

}  // namespace mayfly::conformance
