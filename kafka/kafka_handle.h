// A client of librdkafka: its properties, its callbacks, its end.
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "mayfly/kafka/kafka_client.h"

namespace mayfly::kafka_internal {

// Errors: kRejected naming a property that will not do.
absl::Status CheckOptions(const KafkaOptions& options);

// What a client of librdkafka calls back.
// Threads: the log any, all else whoever polls the client.
class KafkaHandle {
 public:
  KafkaHandle(const KafkaHandle&) = delete;
  KafkaHandle& operator=(const KafkaHandle&) = delete;

 protected:
  KafkaHandle() = default;
  virtual ~KafkaHandle();

  using Properties = std::map<std::string, std::string>;

  // Opens it, once.
  // Errors: kRejected naming the property that will not do; kFatal.
  absl::Status Open(rd_kafka_type_t type, const KafkaOptions& options,
                    const Properties& ours);

  rd_kafka_t* client() const { return client_; }

  // The error that was last told and not taken yet. One that is fatal comes
  // again and again.
  absl::Status TakeError();

  virtual void OnRebalance(rd_kafka_resp_err_t /*code*/,
                           rd_kafka_topic_partition_list_t* /*partitions*/) {}
  virtual void OnDelivery(const rd_kafka_message_t& /*message*/) {}

 private:
  void SetCallbacks(rd_kafka_conf_t* conf, rd_kafka_type_t type,
                    const Properties& ours);
  void OnError(rd_kafka_resp_err_t code, const char* reason);

  std::function<void(std::string_view line)> log_;
  rd_kafka_t* client_ = nullptr;
  absl::Status error_;
};

}  // namespace mayfly::kafka_internal
