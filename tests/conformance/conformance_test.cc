// Each row, in each context, on each backend, and carried between its steps in
// each way.
#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
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
         at.surroundings.backend.name + "_" + NameOf(at.surroundings.carriage);
}

void PrintTo(const Case& at, std::ostream* out) { *out << NameOf(at); }

bool AppliesTo(const Row& row, const Context& context) {
  return row.contexts.empty() ||
         std::find(row.contexts.begin(), row.contexts.end(), context.name) !=
             row.contexts.end();
}

bool AppliesTo(const Row& row, const state_test::BackendSetup& backend,
               Carriage carriage) {
  if (row.backends == Backends::kRocksdbOnly &&
      backend.kind != BackendKind::kRocksdb) {
    return false;
  }
  // How much of a state is in memory is nothing to what it is saved to.
  const bool tiny =
      backend.table_bytes_max < state_test::kRocksdb.table_bytes_max;
  if (tiny && carriage != Carriage::kNone) return false;
  return std::ranges::find(row.not_carried, carriage, &NotCarried::carriage) ==
         row.not_carried.end();
}

// To open RocksDB takes as long as all else together: where a state is carried
// to or from it, each row has every third of its contexts, others in each way.
bool IsTurnOfOthers(const Row& row, std::size_t context,
                    const Surroundings& surroundings) {
  const Carriage carriage = surroundings.carriage;
  if (carriage == Carriage::kNone || !surroundings.on_rocksdb()) return false;
  const std::size_t contexts =
      row.contexts.empty() ? AllContexts().size() : row.contexts.size();
  const std::size_t every = std::min<std::size_t>(contexts, 3);
  return context % every != static_cast<std::size_t>(carriage) % every;
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Row& row : AllRows()) {
    std::size_t contexts = 0;
    for (const Context& context : AllContexts()) {
      if (!AppliesTo(row, context)) continue;
      const std::size_t nth = contexts++;
      for (const state_test::BackendSetup& backend :
           {state_test::kHeap, state_test::kRocksdb,
            state_test::kRocksdbTinyTable}) {
        for (const Carriage carriage : kCarriages) {
          if (!AppliesTo(row, backend, carriage)) continue;
          const Surroundings surroundings{.backend = backend,
                                          .carriage = carriage,
                                          .start_ms = row.start_ms,
                                          .turn = cases.size()};
          if (IsTurnOfOthers(row, nth, surroundings)) continue;
          cases.push_back({&row, &context, surroundings});
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
