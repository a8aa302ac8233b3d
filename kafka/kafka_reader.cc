#include <utility>

#include "kafka/kafka_consumer.h"
#include "kafka/kafka_makers.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::kafka_internal {
namespace {

// librdkafka wants a group of every consumer that is assigned partitions. This
// one is never joined, and nothing is ever committed to it.
constexpr char kNoGroup[] = "mayfly-partition-reader";

class Reader final : public PartitionReader, private KafkaConsumer {
 public:
  absl::Status Open(const KafkaOptions& kafka,
                    const PartitionReaderOptions& options) {
    return KafkaConsumer::Open(
        RD_KAFKA_CONSUMER, kafka,
        PropertiesOf(kNoGroup, options.isolation, options.prefetch_bytes_max));
  }

  absl::StatusOr<LogEvent> Poll(std::chrono::milliseconds timeout) override {
    return Next(timeout);
  }
  absl::Status Pause(std::span<const TopicPartition> partitions) override {
    return KafkaConsumer::Pause(partitions);
  }
  absl::Status Resume(std::span<const TopicPartition> partitions) override {
    return KafkaConsumer::Resume(partitions);
  }
  absl::Status Seek(const PartitionOffset& offset) override {
    return KafkaConsumer::Seek(offset);
  }

  absl::Status Assign(std::span<const PartitionOffset> partitions) override {
    std::vector<PartitionOffset> added;
    for (const PartitionOffset& at : partitions) {
      if (!IsAssigned(at.partition)) {
        added.push_back(at);
      } else {
        MAYFLY_RETURN_IF_ERROR(Seek(at));
      }
    }
    return added.empty() ? absl::OkStatus() : KafkaConsumer::Assign(added);
  }

  absl::Status Unassign(std::span<const TopicPartition> partitions) override {
    std::vector<TopicPartition> removed;
    for (const TopicPartition& partition : partitions) {
      if (IsAssigned(partition)) removed.push_back(partition);
    }
    return removed.empty() ? absl::OkStatus()
                           : KafkaConsumer::Unassign(removed);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<PartitionReader>> NewKafkaReader(
    const KafkaOptions& kafka, const PartitionReaderOptions& options) {
  auto reader = std::make_unique<Reader>();
  MAYFLY_RETURN_IF_ERROR(reader->Open(kafka, options));
  return reader;
}

}  // namespace mayfly::kafka_internal
