// The rows that this suite runs as programs.
#pragma once

#include <string>
#include <vector>

#include "mayfly/serde/timestamp.h"
#include "tests/conformance/carriage.h"
#include "tests/conformance/program.h"

namespace mayfly::conformance {

enum class Backends { kBoth, kRocksdbOnly };

// A way of carrying that is not for a row, and why.
struct NotCarried {
  Carriage carriage;
  std::string reason;
};

struct Row {
  // "Row" and the number in three digits, then whatever tells apart the
  // programs of one row.
  std::string name;
  MaybeTtl ttl;
  Program program;
  // Names of contexts; all of them if there are none.
  std::vector<std::string> contexts = {};
  Backends backends = Backends::kBoth;
  TimestampMs start_ms = 0;
  std::vector<NotCarried> not_carried = {};
};

using Rows = std::vector<Row>;

// 1 to 13 and 86: one key.
Rows LifeRows();
// 14 to 29: several keys and namespaces, snapshots.
Rows KeyRows();
// 32 to 42, 119, 120 and 124: what is removed, and when.
Rows CleanUpRows();
// 30, 31, 65, 68, 70 to 77, 129 to 131, 133 and 134: restarts with the same
// TTL, another, or none.
Rows RestartRows();
// 63, 94 to 118: boundaries of time, and derived rows.
Rows BoundaryRows();
// 91 and 93: random programs with the oracle of Flink's end-to-end test.
Rows RandomRows();

// All of them.
const Rows& AllRows();

}  // namespace mayfly::conformance
