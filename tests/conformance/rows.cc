#include "tests/conformance/rows.h"

namespace mayfly::conformance {
namespace {

Rows Gather() {
  Rows all;
  for (const Rows& rows : {LifeRows(), KeyRows(), CleanUpRows(), RestartRows(),
                           BoundaryRows(), RandomRows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace

const Rows& AllRows() {
  static const Rows all = Gather();
  return all;
}

}  // namespace mayfly::conformance
