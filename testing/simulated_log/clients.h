// What a SimulatedClient makes. Nothing of it works any more when its process
// is dead.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mayfly/log/admin.h"
#include "mayfly/log/consumer.h"
#include "mayfly/log/producer.h"
#include "testing/simulated_log/broker.h"

namespace mayfly::testing_internal {

// A process: its way to the broker, for as long as it lives.
class Process {
 public:
  explicit Process(std::shared_ptr<Broker> broker)
      : broker_(std::move(broker)) {}

  // As Broker::Call(), while the process lives.
  template <typename Body>
  absl::Status Call(LogCall call, const Body& body) {
    if (is_crashed()) return CrashedStatus();
    return broker_->Call(call, body);
  }

  Broker& broker() { return *broker_; }
  bool is_crashed() const { return is_crashed_; }
  void Crash();

  // Within a call of the broker: a member that is silent after a crash.
  void AddMember(const std::string& group, const std::string& member) {
    members_.emplace_back(group, member);
  }

 private:
  static absl::Status CrashedStatus();

  std::vector<std::pair<std::string, std::string>> members_;
  const std::shared_ptr<Broker> broker_;
  std::atomic<bool> is_crashed_ = false;
};

std::unique_ptr<GroupConsumer> NewSimulatedGroupConsumer(
    std::shared_ptr<Process> process, GroupConsumerOptions options,
    RebalanceListener& listener);
std::unique_ptr<PartitionReader> NewSimulatedReader(
    std::shared_ptr<Process> process, const PartitionReaderOptions& options);
std::unique_ptr<LogProducer> NewSimulatedProducer(
    std::shared_ptr<Process> process, ProducerOptions options);
std::unique_ptr<LogAdmin> NewSimulatedAdmin(std::shared_ptr<Process> process);

}  // namespace mayfly::testing_internal
