// A workload: one piece of work that several contenders do side by side.
//
// All contenders of a workload live in one process and are set up before any
// of them is timed. Each first does the work once, untimed, and all must come
// to the same checksum of what they read; the same holds for each timed
// repetition. Repetitions of different contenders come in random order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/scale.h"

namespace mayfly::bench {

// A contender at work.
class Subject {
 public:
  virtual ~Subject() = default;

  // Not timed: makes ready what Run() will be given in this repetition. The
  // untimed one is number 0.
  virtual void Prepare(int repetition) = 0;

  // Timed: does the operations of the workload. Returns a checksum of what was
  // read, the same for all contenders.
  virtual std::uint64_t Run() = 0;

  // Not timed: a checksum of what Run() wrote.
  virtual std::uint64_t CheckWritten() { return 0; }
};

struct Contender {
  std::string name;
  std::function<std::unique_ptr<Subject>()> make;
};

// `ours` shall be at least `ratio` times as fast as `other`. Without a ratio
// the two are only shown beside each other.
struct Comparison {
  std::string ours;
  std::string other;
  double ratio = 0;
};

struct Workload {
  std::string name;
  // Of one repetition.
  std::size_t operations = 0;
  // Work that other threads do for the caller counts as processor time.
  bool in_background = false;
  std::vector<Contender> contenders;
  std::vector<Comparison> comparisons;
};

// What is asked for on the command line.
struct Registration {
  Scale scale;
  // Of a workload's contenders register this one alone, for a profiler. Empty:
  // all.
  std::string only;
};

// Registers a benchmark `<workload>/<contender>` for each contender, labelled
// with its comparisons.
void RegisterWorkload(Workload workload, const Registration& registration);

}  // namespace mayfly::bench
