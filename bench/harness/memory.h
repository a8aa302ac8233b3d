// The memory of this process, as Linux counts it.
#pragma once

#include <fstream>
#include <string>

namespace mayfly::bench {

// A figure of /proc/self/status: VmRSS, resident now, or VmHWM, the most since
// ForgetPeak().  Unit: MB.
inline double MemoryOf(const std::string& figure) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name;) {
    double kib = 0;
    if (name == figure + ":" && file >> kib) return kib * 1024 / 1e6;
  }
  return 0;
}

inline void ForgetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace mayfly::bench
