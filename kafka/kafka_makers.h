// What the client for Kafka makes.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "mayfly/kafka/kafka_client.h"
#include "mayfly/log/admin.h"
#include "mayfly/log/consumer.h"
#include "mayfly/log/producer.h"

namespace mayfly::kafka_internal {

absl::StatusOr<std::unique_ptr<GroupConsumer>> NewKafkaGroupConsumer(
    const KafkaOptions& kafka, const GroupConsumerOptions& options,
    RebalanceListener& listener);

absl::StatusOr<std::unique_ptr<PartitionReader>> NewKafkaReader(
    const KafkaOptions& kafka, const PartitionReaderOptions& options);

absl::StatusOr<std::unique_ptr<LogProducer>> NewKafkaProducer(
    const KafkaOptions& kafka, ProducerOptions options);

absl::StatusOr<std::unique_ptr<LogAdmin>> NewKafkaAdmin(
    const KafkaOptions& kafka);

}  // namespace mayfly::kafka_internal
