// What both kinds of consumers have in common on librdkafka.
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kafka/kafka_handle.h"
#include "kafka/rdkafka_types.h"
#include "mayfly/kafka/kafka_client.h"
#include "mayfly/log/consumer.h"

namespace mayfly::kafka_internal {

// Messages are taken one by one, and all control calls come from the thread
// that takes them: batches together with pauses and seeks lose records in
// librdkafka before 2.1.
class KafkaConsumer : public KafkaHandle {
 public:
  absl::StatusOr<LogEvent> Next(std::chrono::milliseconds timeout);
  absl::Status Pause(std::span<const TopicPartition> partitions);
  absl::Status Resume(std::span<const TopicPartition> partitions);
  absl::Status Seek(const PartitionOffset& offset);

  // Adds partitions, none of which are assigned, and takes them away.
  absl::Status Assign(std::span<const PartitionOffset> partitions);
  absl::Status Unassign(std::span<const TopicPartition> partitions);

  bool IsAssigned(const TopicPartition& partition) const {
    return paused_.contains(partition);
  }
  std::vector<TopicPartition> assigned() const;

 protected:
  // The properties of a consumer.
  static std::map<std::string, std::string> PropertiesOf(
      const std::string& group, IsolationLevel isolation,
      std::size_t prefetch_bytes_max);

 private:
  absl::StatusOr<LogEvent> EventOf(MessagePtr message);
  absl::Status SetPaused(std::span<const TopicPartition> partitions,
                         bool paused);

  // What is assigned, and whether it is paused. librdkafka before 2.4 may go
  // back when something is resumed that is not paused.
  std::map<TopicPartition, bool> paused_;
};

}  // namespace mayfly::kafka_internal
