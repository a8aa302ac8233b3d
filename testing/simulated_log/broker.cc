#include "testing/simulated_log/broker.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"
#include "testing/simulated_log/log_cleaner.h"

namespace mayfly::testing_internal {
namespace {

absl::Status UnknownTopic(std::string_view name) {
  return MakeLogError(LogError::kUnknownTopic,
                      absl::StrCat("there is no topic or partition '",
                                   std::string(name), "': create it"));
}

}  // namespace

void Broker::Wait(std::int64_t version, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return version_ != version; });
}

std::int64_t Broker::version() const {
  const std::scoped_lock lock(mutex_);
  return version_;
}

void Broker::Inject(const LogFault& fault) {
  const std::scoped_lock lock(mutex_);
  faults_.push_back(fault);
}

std::optional<LogFault> Broker::TakeFault(LogCall call) {
  const auto fault = std::ranges::find(faults_, call, &LogFault::call);
  if (fault == faults_.end()) return std::nullopt;
  if (fault->after > 0) {
    --fault->after;
    return std::nullopt;
  }
  LogFault taken = *fault;
  if (--fault->times <= 0) faults_.erase(fault);
  return taken;
}

absl::Status Broker::FaultStatus(const LogFault& fault) {
  return MakeLogError(fault.error,
                      absl::StrCat("an injected error, ",
                                   std::string(LogErrorName(fault.error))));
}

void Broker::CatchUp() {
  for (auto& [name, group] : groups_) group.Expire(now_ms());
  for (auto& [id, transaction] : transactions_) {
    if (transaction.is_open &&
        now_ms() - transaction.began_ms > transaction.timeout.count()) {
      End(transaction, BatchKind::kAbortMarker);
      ++transaction.epoch;  // Its producer is fenced.
    }
  }
}

absl::Status Broker::CreateTopic(const NewTopic& topic) {
  if (topics_.contains(topic.name)) {
    return MakeLogError(LogError::kTopicExists,
                        absl::StrCat("topic '", topic.name, "' exists"));
  }
  if (topic.name.empty() || topic.partitions < 1) {
    return MakeLogError(LogError::kRejected,
                        absl::StrCat("topic '", topic.name, "' cannot have ",
                                     topic.partitions, " partitions"));
  }
  Topic created;
  MAYFLY_ASSIGN_OR_RETURN(created.config, WithDefaults(topic.config));
  MAYFLY_ASSIGN_OR_RETURN(created.settings, ParseSettings(created.config));
  created.partitions.resize(topic.partitions);
  topics_[topic.name] = std::move(created);
  TellPartitions();
  return absl::OkStatus();
}

absl::Status Broker::DeleteTopic(const std::string& name) {
  if (topics_.erase(name) == 0) return UnknownTopic(name);
  for (auto& [group_name, group] : groups_) {
    std::erase_if(group.committed(), [&](const auto& committed) {
      return committed.first.topic == name;
    });
  }
  TellPartitions();
  return absl::OkStatus();
}

absl::Status Broker::AddPartitions(const std::string& name,
                                   std::int32_t partitions) {
  MAYFLY_ASSIGN_OR_RETURN(Topic* const topic, FindTopic(name));
  if (partitions <= static_cast<std::int32_t>(topic->partitions.size())) {
    return MakeLogError(LogError::kRejected,
                        absl::StrCat("topic '", name, "' has ",
                                     topic->partitions.size(), " partitions"));
  }
  topic->partitions.resize(partitions);
  TellPartitions();
  return absl::OkStatus();
}

absl::StatusOr<Topic*> Broker::FindTopic(std::string_view name) {
  const auto topic = topics_.find(name);
  if (topic == topics_.end()) return UnknownTopic(name);
  return &topic->second;
}

PartitionLog* Broker::FindPartition(const TopicPartition& partition) {
  const auto topic = topics_.find(partition.topic);
  if (topic == topics_.end()) return nullptr;
  std::vector<PartitionLog>& partitions = topic->second.partitions;
  const auto index = static_cast<std::size_t>(partition.partition);
  return index < partitions.size() ? &partitions[index] : nullptr;
}

absl::StatusOr<PartitionLog*> Broker::GetPartition(
    const TopicPartition& partition) {
  PartitionLog* const log = FindPartition(partition);
  if (log == nullptr) return UnknownTopic(partition.ToString());
  return log;
}

void Broker::RunCleaner() {
  for (auto& [name, topic] : topics_) {
    for (PartitionLog& log : topic.partitions) {
      Compact(log, topic.settings, now_ms());
      ApplyRetention(log, topic.settings, now_ms());
    }
  }
}

Group& Broker::GetGroup(const std::string& name) {
  const auto [group, is_new] = groups_.try_emplace(name);
  if (is_new) TellPartitions();
  return group->second;
}

void Broker::TellPartitions() {
  std::set<TopicPartition> all;
  for (const auto& [name, topic] : topics_) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      all.insert({name, static_cast<std::int32_t>(i)});
    }
  }
  for (auto& [name, group] : groups_) group.SetPartitions(all);
}

}  // namespace mayfly::testing_internal
