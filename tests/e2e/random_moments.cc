#include "tests/e2e/random_moments.h"

#include <cstdlib>
#include <iostream>
#include <string>

namespace mayfly::e2e {

RandomMoments::RandomMoments() {
  const char* const given = std::getenv("MAYFLY_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::stoull(given) : std::random_device()();
  std::cout << "MAYFLY_SEED=" << seed << " repeats these moments" << std::endl;
  random_.seed(seed);
}

}  // namespace mayfly::e2e
