// Runs a program against a state of some kind on some backend.
#pragma once

#include "tests/conformance/context.h"
#include "tests/conformance/program.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::conformance {

// What is done where a program says Snap{}.
enum class SnapVariant {
  kNone,
  kRestart,  // A commit, and a restart from it.
};

struct Surroundings {
  state_test::BackendSetup backend;
  SnapVariant snap = SnapVariant::kNone;
  TimestampMs start_ms = 0;
};

// Fails the test that runs where the state behaves otherwise than the program
// says.
void RunProgram(const Program& program, const Context& context,
                const MaybeTtl& ttl, const Surroundings& surroundings);

}  // namespace mayfly::conformance
