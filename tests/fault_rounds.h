// How hard the tests of crashes and faults try.
#pragma once

#include <cstdlib>

namespace mayfly {

// How often a test kills, breaks or damages what it tests, for each of its
// settings: MAYFLY_FAULT_ROUNDS, or what suits a run between two edits.
inline int FaultRounds(int by_default) {
  const char* const given = std::getenv("MAYFLY_FAULT_ROUNDS");
  return given != nullptr ? std::atoi(given) : by_default;
}

}  // namespace mayfly
