// Each row, in each context, on each backend, without
// and with restarts where it takes a snapshot.
#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/context.h"
#include "tests/conformance/rows.h"
#include "tests/conformance/runner.h"

namespace mayfly::conformance {

namespace {

struct Case {
  const Row* row;
  const Context* context;
  Surroundings surroundings;
};

std::string NameOf(const Case& at) {
  return at.row->name + "_" + at.context->name + "_" +
         at.surroundings.backend.name +
         (at.surroundings.snap == SnapVariant::kRestart ? "_Restarts" : "");
}

void PrintTo(const Case& at, std::ostream* out) { *out << NameOf(at); }

bool AppliesTo(const Row& row, const Context& context) {
  return row.contexts.empty() ||
         std::find(row.contexts.begin(), row.contexts.end(), context.name) !=
             row.contexts.end();
}

// A program without a Snap{} is the same in both variants.
std::vector<SnapVariant> SnapVariantsOf(const Row& row) {
  const bool snaps = std::any_of(
      row.program.begin(), row.program.end(),
      [](const Step& step) { return std::holds_alternative<Snap>(step); });
  if (!snaps) return {SnapVariant::kNone};
  return {SnapVariant::kNone, SnapVariant::kRestart};
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Row& row : AllRows()) {
    for (const Context& context : AllContexts()) {
      if (!AppliesTo(row, context)) continue;
      for (const state_test::BackendSetup& backend :
           {state_test::kHeap, state_test::kRocksdb,
            state_test::kRocksdbTinyTable}) {
        if (row.backends == Backends::kRocksdbOnly &&
            backend.kind != BackendKind::kRocksdb) {
          continue;
        }
        for (const SnapVariant snap : SnapVariantsOf(row)) {
          cases.push_back({&row, &context, {backend, snap, row.start_ms}});
        }
      }
    }
  }
  return cases;
}

class ConformanceTest : public ::testing::TestWithParam<Case> {};

TEST_P(ConformanceTest, Holds) {
  const Case& at = GetParam();
  RunProgram(at.row->program, *at.context, at.row->ttl, at.surroundings);
}

INSTANTIATE_TEST_SUITE_P(Rows, ConformanceTest, ::testing::ValuesIn(AllCases()),
                         [](const ::testing::TestParamInfo<Case>& at) {
                           return NameOf(at.param);
                         });

}  // namespace
}  // namespace mayfly::conformance
