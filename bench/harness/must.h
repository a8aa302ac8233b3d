// A benchmark whose work fails has nothing to report: it ends the program.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/status.h"

namespace mayfly::bench {

[[noreturn]] inline void Fail(const std::string& why) {
  std::cerr << "mayfly_bench: " << why << '\n';
  std::quick_exit(1);  // Databases are open; leave them as they are.
}

inline void Must(const absl::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

inline void Must(const rocksdb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

template <typename T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) Fail(result.status().ToString());
  return *std::move(result);
}

}  // namespace mayfly::bench
