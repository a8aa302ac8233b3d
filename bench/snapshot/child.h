// Work that is measured in a process of its own, since a process cannot take
// back how much memory it once had.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace mayfly::bench {

struct Figures {
  // Of the work.
  double seconds = 0;
  // The longest time for which a record would have had to wait.
  double pause_ms = 0;
  // Resident memory when the work began, and how much it rose at most.
  double memory_mb = 0;
  double peak_mb = 0;
  // What was read or written, as entries: must be the same for all contenders.
  std::uint64_t entries = 0;
  std::uint64_t checksum = 0;
};

// Measures what goes on between its making and Stop().
class Meter {
 public:
  Meter();

  // Seconds and memory so far; the pause is all of it.
  Figures Stop() const;

 private:
  double memory_mb_;
  std::chrono::steady_clock::time_point began_;
};

// What `work` returns when it has run in a child. Ends the program if the child
// fails.
Figures RunInChild(const std::function<Figures()>& work);

}  // namespace mayfly::bench
