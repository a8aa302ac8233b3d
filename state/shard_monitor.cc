#include "state/shard_monitor.h"

#include <utility>

namespace mayfly::state_internal {
namespace {

Removed ReadCounter(const RemovalCounter& counter) {
  return {.entries = counter.entries(), .bytes = counter.bytes()};
}

}  // namespace

std::shared_ptr<RemovalCounters> ShardMonitor::Register(
    const std::string& state) {
  const std::lock_guard lock(mutex_);
  State& registered = states_[state];
  if (registered.removed == nullptr) {
    registered.removed = std::make_shared<RemovalCounters>();
    registered.counted.state = state;
  }
  return registered.removed;
}

void ShardMonitor::SetCounted(const StateStatistics& counted) {
  const std::lock_guard lock(mutex_);
  states_[counted.state].counted = counted;
}

std::vector<StateStatistics> ShardMonitor::Read(
    const std::vector<TimestampMs>& expired_by_ms) const {
  std::map<std::string, StateStatistics> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, state] : states_) {
      StateStatistics& statistics = all[name] = state.counted;
      statistics.cleanup.reads = ReadCounter(state.removed->reads);
      statistics.cleanup.incremental = ReadCounter(state.removed->incremental);
    }
  }
  if (stored_ != nullptr) stored_->AddTo(expired_by_ms, all);
  std::vector<StateStatistics> states;
  states.reserve(all.size());
  for (auto& [name, statistics] : all) {
    states.push_back(std::move(statistics));
  }
  return states;
}

}  // namespace mayfly::state_internal
