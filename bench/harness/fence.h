// Keeps operations apart.
#pragma once

namespace mayfly::bench {

// The next operation does not begin before this one has ended.
//
// A processor begins the cache misses of several lookups at once if they
// follow one another in a loop, which a table in memory shows as times far
// below that of one miss. In a job a record's work lies between two lookups.
inline void Fence() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("dsb ish\n isb" ::: "memory");
#else
#error "Fence() is not written for this processor"
#endif
}

}  // namespace mayfly::bench
