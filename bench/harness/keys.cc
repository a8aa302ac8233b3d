#include "bench/harness/keys.h"

#include <cmath>
#include <memory>
#include <random>

namespace mayfly::bench {
namespace {

std::mt19937_64 Engine(int repetition) {
  return std::mt19937_64(Scatter(static_cast<std::uint64_t>(repetition) + 1));
}

// Sums of the weights of rank 0 up to each rank.
std::vector<double> CumulativeZipfWeights(std::size_t keys) {
  constexpr double kExponent = 0.99;
  std::vector<double> cumulative;
  cumulative.reserve(keys);
  double sum = 0;
  for (std::size_t rank = 0; rank < keys; ++rank) {
    sum += std::pow(static_cast<double>(rank + 1), -kExponent);
    cumulative.push_back(sum);
  }
  return cumulative;
}

}  // namespace

SequenceOf Distinct(std::size_t count, std::size_t keys) {
  return [=](int repetition) {
    std::vector<std::uint64_t> sequence(count);
    std::uint64_t next = static_cast<std::uint64_t>(repetition) * count;
    for (std::uint64_t& key : sequence) key = next++ % keys;
    return sequence;
  };
}

SequenceOf Uniform(std::size_t count, std::size_t keys) {
  return [=](int repetition) {
    std::mt19937_64 engine = Engine(repetition);
    std::vector<std::uint64_t> sequence(count);
    for (std::uint64_t& key : sequence) key = engine() % keys;
    return sequence;
  };
}

SequenceOf Zipf(std::size_t count, std::size_t keys) {
  const auto weights = std::make_shared<std::vector<double>>();
  return [=](int repetition) {
    if (weights->empty()) *weights = CumulativeZipfWeights(keys);
    std::mt19937_64 engine = Engine(repetition);
    std::uniform_real_distribution<double> at(0, weights->back());
    std::vector<std::uint64_t> sequence(count);
    for (std::uint64_t& key : sequence) {
      const auto rank =
          std::lower_bound(weights->begin(), weights->end(), at(engine));
      key = static_cast<std::uint64_t>(rank - weights->begin());
    }
    return sequence;
  };
}

}  // namespace mayfly::bench
