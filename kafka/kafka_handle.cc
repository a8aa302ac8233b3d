#include "kafka/kafka_handle.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kafka/kafka_error.h"
#include "kafka/rdkafka_types.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::kafka_internal {
namespace {

absl::Status SetProperty(rd_kafka_conf_t* conf, const std::string& name,
                         const std::string& value) {
  char error[512] = "";
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error,
                        sizeof(error)) != RD_KAFKA_CONF_OK) {
    return MakeLogError(LogError::kRejected,
                        absl::StrCat("Kafka property ", name, ": ", error));
  }
  return absl::OkStatus();
}

absl::Status SetProperties(rd_kafka_conf_t* conf, const KafkaOptions& options,
                           const std::map<std::string, std::string>& ours) {
  MAYFLY_RETURN_IF_ERROR(
      SetProperty(conf, "bootstrap.servers", options.bootstrap_servers));
  MAYFLY_RETURN_IF_ERROR(SetProperty(conf, "client.id", "mayfly"));
  for (const auto& [name, value] : options.properties) {
    if (name == "bootstrap.servers" || ours.contains(name)) {
      return MakeLogError(
          LogError::kRejected,
          absl::StrCat("Kafka property ", name, " is set by Mayfly"));
    }
    MAYFLY_RETURN_IF_ERROR(SetProperty(conf, name, value));
  }
  for (const auto& [name, value] : ours) {
    MAYFLY_RETURN_IF_ERROR(SetProperty(conf, name, value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const KafkaOptions& options) {
  const ConfPtr conf(rd_kafka_conf_new());
  return SetProperties(conf.get(), options, {});
}

// Whatever is still on its way is given up: a consumer has left its group
// before, or cannot.
KafkaHandle::~KafkaHandle() {
  if (client_ != nullptr) {
    rd_kafka_destroy_flags(client_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
}

absl::Status KafkaHandle::Open(rd_kafka_type_t type,
                               const KafkaOptions& options,
                               const Properties& ours) {
  ConfPtr conf(rd_kafka_conf_new());
  MAYFLY_RETURN_IF_ERROR(SetProperties(conf.get(), options, ours));
  log_ = options.log;
  SetCallbacks(conf.get(), type, ours);
  char error[512] = "";
  client_ = rd_kafka_new(type, conf.get(), error, sizeof(error));
  if (client_ == nullptr) {
    return MakeLogError(LogError::kFatal,
                        absl::StrCat("Kafka client: ", error));
  }
  static_cast<void>(conf.release());  // It is the client's now.
  return absl::OkStatus();
}

void KafkaHandle::SetCallbacks(rd_kafka_conf_t* conf, rd_kafka_type_t type,
                               const Properties& ours) {
  rd_kafka_conf_set_opaque(conf, this);
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t* client, int,
                                    const char* facility, const char* text) {
    const auto* self = static_cast<KafkaHandle*>(rd_kafka_opaque(client));
    if (self->log_) self->log_(absl::StrCat(facility, ": ", text));
  });
  rd_kafka_conf_set_error_cb(
      conf, [](rd_kafka_t*, int code, const char* reason, void* self) {
        static_cast<KafkaHandle*>(self)->OnError(
            static_cast<rd_kafka_resp_err_t>(code), reason);
      });
  if (type == RD_KAFKA_PRODUCER) {
    rd_kafka_conf_set_dr_msg_cb(
        conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
          static_cast<KafkaHandle*>(self)->OnDelivery(*message);
        });
  } else if (ours.contains("partition.assignment.strategy")) {
    rd_kafka_conf_set_rebalance_cb(
        conf, [](rd_kafka_t*, rd_kafka_resp_err_t code,
                 rd_kafka_topic_partition_list_t* partitions, void* self) {
          static_cast<KafkaHandle*>(self)->OnRebalance(code, partitions);
        });
  }
}

// Of those that pass by themselves only one is worth a caller's attention.
void KafkaHandle::OnError(rd_kafka_resp_err_t code, const char* reason) {
  const absl::Status status = StatusOf(code, reason);
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    error_ = FatalStatusOf(client_, reason);
  } else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
             LogErrorOf(status) == LogError::kDenied) {
    error_ = status;
  }
}

absl::Status KafkaHandle::TakeError() {
  absl::Status fatal = FatalStatusOf(client_, "the client");
  if (!fatal.ok()) return fatal;
  return std::exchange(error_, absl::OkStatus());
}

}  // namespace mayfly::kafka_internal
