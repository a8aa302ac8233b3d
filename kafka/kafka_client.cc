#include "mayfly/kafka/kafka_client.h"

#include <utility>

#include "kafka/kafka_handle.h"
#include "kafka/kafka_makers.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly {
namespace kafka_internal {
namespace {

class Client final : public LogClient {
 public:
  explicit Client(KafkaOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::unique_ptr<GroupConsumer>> NewGroupConsumer(
      const GroupConsumerOptions& options,
      RebalanceListener& listener) override {
    MAYFLY_RETURN_IF_ERROR(Validate(options));
    return NewKafkaGroupConsumer(options_, options, listener);
  }

  absl::StatusOr<std::unique_ptr<PartitionReader>> NewPartitionReader(
      const PartitionReaderOptions& options) override {
    return NewKafkaReader(options_, options);
  }

  absl::StatusOr<std::unique_ptr<LogProducer>> NewProducer(
      ProducerOptions options) override {
    MAYFLY_RETURN_IF_ERROR(Validate(options));
    return NewKafkaProducer(options_, std::move(options));
  }

  absl::StatusOr<std::unique_ptr<LogAdmin>> NewAdmin() override {
    return NewKafkaAdmin(options_);
  }

 private:
  const KafkaOptions options_;
};

}  // namespace
}  // namespace kafka_internal

absl::StatusOr<std::unique_ptr<LogClient>> ConnectToKafka(
    KafkaOptions options) {
  if (options.bootstrap_servers.empty()) {
    return MakeLogError(LogError::kRejected,
                        "bootstrap_servers is empty: name a broker, such as "
                        "localhost:9092");
  }
  MAYFLY_RETURN_IF_ERROR(kafka_internal::CheckOptions(options));
  return std::make_unique<kafka_internal::Client>(std::move(options));
}

}  // namespace mayfly
