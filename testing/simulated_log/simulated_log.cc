#include "mayfly/testing/simulated_log.h"

#include <utility>

#include "mayfly/serde/status_macros.h"
#include "testing/simulated_log/broker.h"
#include "testing/simulated_log/clients.h"

namespace mayfly {
namespace testing_internal {
namespace {

class Client final : public SimulatedClient {
 public:
  explicit Client(std::shared_ptr<Broker> broker)
      : process_(std::make_shared<Process>(std::move(broker))) {}

  void Crash() override { process_->Crash(); }

  absl::StatusOr<std::unique_ptr<GroupConsumer>> NewGroupConsumer(
      const GroupConsumerOptions& options,
      RebalanceListener& listener) override {
    MAYFLY_RETURN_IF_ERROR(Validate(options));
    return NewSimulatedGroupConsumer(process_, options, listener);
  }

  absl::StatusOr<std::unique_ptr<PartitionReader>> NewPartitionReader(
      const PartitionReaderOptions& options) override {
    return NewSimulatedReader(process_, options);
  }

  absl::StatusOr<std::unique_ptr<LogProducer>> NewProducer(
      ProducerOptions options) override {
    MAYFLY_RETURN_IF_ERROR(Validate(options));
    return NewSimulatedProducer(process_, std::move(options));
  }

  absl::StatusOr<std::unique_ptr<LogAdmin>> NewAdmin() override {
    return NewSimulatedAdmin(process_);
  }

 private:
  const std::shared_ptr<Process> process_;
};

SimulatedEntry::Kind MarkerKind(BatchKind kind) {
  return kind == BatchKind::kCommitMarker ? SimulatedEntry::Kind::kCommitMarker
                                          : SimulatedEntry::Kind::kAbortMarker;
}

void AppendEntries(const StoredBatch& batch,
                   std::vector<SimulatedEntry>& entries) {
  for (const StoredRecord& record : batch.records) {
    entries.push_back(
        {.offset = record.offset, .key = record.key, .value = record.value});
  }
  if (batch.is_marker()) {
    entries.push_back(
        {.kind = MarkerKind(batch.kind), .offset = batch.last_offset});
  } else if (batch.records.empty()) {
    entries.push_back({.kind = SimulatedEntry::Kind::kEmptyBatch,
                       .offset = batch.last_offset});
  }
}

}  // namespace

void Process::Crash() {
  is_crashed_ = true;
  broker_->Do([&] {
    for (const auto& [group, member] : members_) {
      broker_->GetGroup(group).FallSilent(member, broker_->now_ms());
    }
  });
}

absl::Status Process::CrashedStatus() {
  return MakeLogError(LogError::kFatal, "this process has crashed");
}

}  // namespace testing_internal

SimulatedLog::SimulatedLog(std::shared_ptr<const TtlClock> clock)
    : broker_(std::make_shared<testing_internal::Broker>(std::move(clock))) {}

SimulatedLog::~SimulatedLog() = default;

std::unique_ptr<SimulatedClient> SimulatedLog::NewClient() {
  return std::make_unique<testing_internal::Client>(broker_);
}

absl::Status SimulatedLog::CreateTopic(const NewTopic& topic) {
  return broker_->Do([&] { return broker_->CreateTopic(topic); });
}

absl::Status SimulatedLog::DeleteTopic(const std::string& name) {
  return broker_->Do([&] { return broker_->DeleteTopic(name); });
}

absl::Status SimulatedLog::AddPartitions(const std::string& topic,
                                         std::int32_t partitions) {
  return broker_->Do([&] { return broker_->AddPartitions(topic, partitions); });
}

void SimulatedLog::SetClusterId(std::string id) {
  broker_->Do([&] { broker_->cluster_id() = std::move(id); });
}

void SimulatedLog::RunCleaner() {
  broker_->Do([&] { broker_->RunCleaner(); });
}

void SimulatedLog::Inject(const LogFault& fault) { broker_->Inject(fault); }

absl::StatusOr<std::vector<SimulatedEntry>> SimulatedLog::Entries(
    const TopicPartition& partition) const {
  return broker_->Do([&]() -> absl::StatusOr<std::vector<SimulatedEntry>> {
    MAYFLY_ASSIGN_OR_RETURN(const testing_internal::PartitionLog* const log,
                            broker_->GetPartition(partition));
    std::vector<SimulatedEntry> entries;
    for (const testing_internal::Segment& segment : log->segments()) {
      for (const testing_internal::StoredBatch& batch : segment.batches) {
        if (batch.last_offset >= log->low()) {
          testing_internal::AppendEntries(batch, entries);
        }
      }
    }
    return entries;
  });
}

}  // namespace mayfly
