// What it costs to get space back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/reclaim/store.h"

namespace mayfly::bench {

// Unit: seconds and bytes.
struct ReclaimCost {
  // Until the disk is free.
  double seconds = 0;
  // Of those, what the file system takes to free the blocks of the files that
  // were there, which is the same whoever lets go of them.
  double unlinking_seconds = 0;
  // By system calls of this process.
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  // In table files.
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};

// Of a store that is loaded. Ends the program if what is live is not there
// afterwards, or what has expired is.
ReclaimCost MeasureReclaim(const ReclaimScenario& scenario,
                           ReclaimStore& store);

// Of single reads, in order.  Unit: microseconds.
class Latencies {
 public:
  explicit Latencies(std::vector<double> us);

  // "p50 / p99 / p999"; those that fewer than ten reads lie beyond are left
  // out.
  std::string Show() const;

 private:
  std::string At(double share) const;

  std::vector<double> us_;
};

struct ReadLatencies {
  Latencies at_rest;
  Latencies meanwhile;
};

// Reads live entries at random, or any if all have expired: before, and while
// the space comes back. The store is loaded.
ReadLatencies MeasureReads(const ReclaimScenario& scenario,
                           ReclaimStore& store);

}  // namespace mayfly::bench
