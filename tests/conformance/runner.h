// Runs a program against a state of some kind on some backend.
#pragma once

#include <cstddef>

#include "tests/conformance/carriage.h"
#include "tests/conformance/context.h"
#include "tests/conformance/program.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::conformance {

struct Surroundings {
  state_test::BackendSetup backend;
  Carriage carriage = Carriage::kNone;
  TimestampMs start_ms = 0;
  // Where a state is not carried between all steps, other turns do it between
  // others.
  std::size_t turn = 0;

  bool on_rocksdb() const {
    return backend.kind == BackendKind::kRocksdb ||
           carriage == Carriage::kOtherBackend;
  }
};

// Fails the test that runs where the state behaves otherwise than the program
// says, wherever it is carried meanwhile.
void RunProgram(const Program& program, const Context& context,
                const MaybeTtl& ttl, const Surroundings& surroundings);

}  // namespace mayfly::conformance
