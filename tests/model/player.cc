#include "tests/model/player.h"

#include <utility>

namespace mayfly::model_test {

std::optional<Difference> Play(const Program& program,
                               const SystemFactory& make_system) {
  const std::unique_ptr<System> system = make_system(program.settings);
  Model model(program.settings);
  for (std::size_t step = 0; step < program.operations.size(); ++step) {
    const Operation& operation = program.operations[step];
    const Allowed allowed = model.Allow(operation);
    const Answer answer = system->Run(operation);
    std::string what = Mismatch(allowed, answer);
    if (!what.empty()) return Difference{step, std::move(what)};
    model.Apply(operation, answer);
  }
  return std::nullopt;
}

}  // namespace mayfly::model_test
