// Runs a program on a system and on the model, step by step.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tests/model/model.h"
#include "tests/model/program.h"
#include "tests/model/system.h"

namespace mayfly::model_test {

// Makes the system that a program is run on, anew for each run.
using SystemFactory = std::function<std::unique_ptr<System>(const Settings&)>;

// Where a system gave an answer that the model does not allow.
struct Difference {
  std::size_t step = 0;
  std::string what;
};

// The first difference; nullopt if there is none.
std::optional<Difference> Play(const Program& program,
                               const SystemFactory& make_system);

}  // namespace mayfly::model_test
