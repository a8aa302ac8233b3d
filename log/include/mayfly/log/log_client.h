// The seam between jobs and a partitioned log such as Kafka. Everything that
// reads, writes or asks about topics is made by a LogClient, of which there are
// two: ConnectToKafka() in mayfly/kafka/kafka_client.h, and SimulatedLog in
// mayfly/testing/simulated_log.h, with which every protocol is tested.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "mayfly/log/admin.h"
#include "mayfly/log/consumer.h"
#include "mayfly/log/producer.h"

namespace mayfly {

// Threads: any.
// Lifetime: may go before what it has made.
// Errors: of every call, kRejected naming a setting that will not do; kFatal
// when the system gives no more threads or memory. None of them waits for a
// broker.
class LogClient {
 public:
  virtual ~LogClient() = default;

  // The member joins the group in its first Poll().
  // Lifetime: `listener` outlives the consumer.
  virtual absl::StatusOr<std::unique_ptr<GroupConsumer>> NewGroupConsumer(
      const GroupConsumerOptions& options, RebalanceListener& listener) = 0;

  virtual absl::StatusOr<std::unique_ptr<PartitionReader>> NewPartitionReader(
      const PartitionReaderOptions& options) = 0;

  virtual absl::StatusOr<std::unique_ptr<LogProducer>> NewProducer(
      ProducerOptions options) = 0;

  virtual absl::StatusOr<std::unique_ptr<LogAdmin>> NewAdmin() = 0;
};

}  // namespace mayfly
