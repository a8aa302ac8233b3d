// A disk that fails when it is told to. A program with faulty_disk.cc in it has
// its own write(), fsync() and so on in place of those of libc; RocksDB calls
// them, too.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace mayfly::state_test {

enum class DiskCall : std::uint8_t {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kLink,
  kRename
};

struct DiskFault {
  // For the names of tests.
  const char* name;
  // Of errno; 0: the call is short, and nothing is wrong.
  int error;
  DiskCall call;
  // Of the first call that is hit, half is done; then come the errors.
  bool is_short = false;
  // No later call succeeds either.
  bool lasts = false;

  friend void PrintTo(const DiskFault& fault, std::ostream* out) {
    *out << fault.name;
  }
};

// While it lives, the disk has the fault at the `nth` call, counted from 0,
// that is about something in `directory`. One at a time. Threads: any make
// calls.
class FaultyDisk {
 public:
  // An `nth` that no call reaches.
  static constexpr int kNever = 1 << 30;

  FaultyDisk(const DiskFault& fault, std::string directory, int nth);
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk();

  // Of the kind that the fault is about, so far.
  static int calls();
  // That were hit by it.
  static int hits();
};

}  // namespace mayfly::state_test
