// What operators see of a shard, while it is at work or idle.
//
//   std::shared_ptr<const StateMonitor> monitor = backend->monitor();
//   // On any other thread:
//   std::vector<StateStatistics> states = monitor->Read({});
#pragma once

#include <vector>

#include "mayfly/serde/timestamp.h"
#include "mayfly/state/state_statistics.h"

namespace mayfly {

// Threads: any, at once with the shard, which is not held up, and with sweeps.
// Lifetime: may outlive its backend; there is nothing on disk for it then.
class StateMonitor {
 public:
  virtual ~StateMonitor() = default;

  // Each state, by name. What clean-up has removed and what is on disk is as of
  // now; what is counted, as of the last KeyedStateBackend::Statistics(). On
  // RocksDB it takes some microseconds for each table file. What a file says of
  // itself is in memory if the file is open, as all are unless
  // RocksdbOptions::open_files_max is set; of others the end is read. A state
  // of which RocksDB cannot say says so in StateDiskUse::unreadable, and the
  // others have their figures.
  // `expired_by_ms`: times for StateDiskUse::expired_bytes_by.
  virtual std::vector<StateStatistics> Read(
      const std::vector<TimestampMs>& expired_by_ms) const = 0;
};

}  // namespace mayfly
