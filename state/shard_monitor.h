// The monitor of a backend, whatever its kind.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mayfly/state/internal/removal_counters.h"
#include "mayfly/state/state_monitor.h"

namespace mayfly::state_internal {

// What lies beneath the tables.
// Threads: any.
class StoredFigures {
 public:
  virtual ~StoredFigures() = default;

  // Adds what is on disk, and what has been removed from there, for each state
  // that is stored.
  virtual void AddTo(const std::vector<TimestampMs>& expired_by_ms,
                     std::map<std::string, StateStatistics>& states) const = 0;
};

// Threads: any.
class ShardMonitor final : public StateMonitor {
 public:
  // What the shard is to count of a state that is registered.
  // Lifetime: of the result, at least this monitor's.
  std::shared_ptr<RemovalCounters> Register(const std::string& state);

  // Gives the figures of a state that have been counted: those before
  // StateStatistics::disk.
  void SetCounted(const StateStatistics& counted);

  // Called once, before anybody reads.
  void SetStored(std::shared_ptr<const StoredFigures> stored) {
    stored_ = std::move(stored);
  }

  std::vector<StateStatistics> Read(
      const std::vector<TimestampMs>& expired_by_ms) const override;

 private:
  struct State {
    StateStatistics counted;
    std::shared_ptr<RemovalCounters> removed;
  };

  // Null on heap.
  std::shared_ptr<const StoredFigures> stored_;
  mutable std::mutex mutex_;
  std::map<std::string, State> states_;  // Guarded by mutex_.
};

}  // namespace mayfly::state_internal
