// What operators see of a shard, while it is at work or idle.
//
//   std::shared_ptr<const StateMonitor> monitor = backend->monitor();
//   // On any other thread:
//   absl::StatusOr<std::vector<StateStatistics>> states = monitor->Read({});
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/state_statistics.h"

namespace mayfly {

// Threads: any, at once with the shard, which is not held up, and with sweeps.
// Lifetime: may outlive its backend; there is nothing on disk for it then.
class StateMonitor {
 public:
  virtual ~StateMonitor() = default;

  // Each state, by name. What clean-up has removed and what is on disk is as of
  // now; what is counted, as of the last KeyedStateBackend::Statistics(). Reads
  // no table file, and on RocksDB takes some microseconds for each.
  // `expired_by_ms`: times for StateDiskUse::expired_bytes_by.
  // Errors: kUnavailable if RocksDB cannot say.
  virtual absl::StatusOr<std::vector<StateStatistics>> Read(
      const std::vector<TimestampMs>& expired_by_ms) const = 0;
};

}  // namespace mayfly
