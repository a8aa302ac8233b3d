// Chance that can be repeated.
#pragma once

#include <cstdint>
#include <random>

namespace mayfly::e2e {

// Numbers from a seed that is printed; MAYFLY_SEED gives it.
// Threads: one.
class RandomMoments {
 public:
  RandomMoments();

  std::int64_t Between(std::int64_t min, std::int64_t max) {
    return std::uniform_int_distribution<std::int64_t>(min, max)(random_);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace mayfly::e2e
