// Makes programs by chance.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/model/program.h"

namespace mayfly::model_test {

// The same seed makes the same program; with more `steps` it goes on. What
// `given` leaves open is chosen: the times and the clean-up. After the steps
// everything is read once more.
Program MakeProgram(std::uint64_t seed, std::size_t steps,
                    const Settings& given);

}  // namespace mayfly::model_test
