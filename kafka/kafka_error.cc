#include "kafka/kafka_error.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"

namespace mayfly::kafka_internal {
namespace {

LogError KindOf(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
      return LogError::kQueueFull;
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      return LogError::kFenced;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      return LogError::kOffsetOutOfRange;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return LogError::kUnknownTopic;
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
      return LogError::kTopicExists;
    case RD_KAFKA_RESP_ERR__STATE:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return LogError::kRejected;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return LogError::kDenied;
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
      return LogError::kAbortable;
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE:
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      return LogError::kFatal;
    default:  // The network, the brokers' state, time: all of it passes.
      return LogError::kRetriable;
  }
}

std::string Said(std::string_view doing, const char* what) {
  return absl::StrCat("Kafka, ", std::string(doing), ": ", what);
}

}  // namespace

absl::Status StatusOf(rd_kafka_resp_err_t code, std::string_view doing) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return absl::OkStatus();
  return MakeLogError(KindOf(code), Said(doing, rd_kafka_err2str(code)));
}

absl::Status StatusOf(const ErrorPtr& error, std::string_view doing) {
  if (error == nullptr) return absl::OkStatus();
  LogError kind = KindOf(rd_kafka_error_code(error.get()));
  if (rd_kafka_error_is_fatal(error.get())) {
    if (kind != LogError::kFenced) kind = LogError::kFatal;
  } else if (rd_kafka_error_txn_requires_abort(error.get())) {
    kind = LogError::kAbortable;
  } else if (rd_kafka_error_is_retriable(error.get())) {
    kind = LogError::kRetriable;
  } else if (kind == LogError::kRetriable) {
    kind = LogError::kFatal;  // librdkafka does not say so: do not go on.
  }
  return MakeLogError(kind, Said(doing, rd_kafka_error_string(error.get())));
}

absl::Status FatalStatusOf(rd_kafka_t* client, std::string_view doing) {
  char text[512] = "";
  const rd_kafka_resp_err_t code =
      rd_kafka_fatal_error(client, text, sizeof(text));
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return absl::OkStatus();
  return MakeLogError(
      KindOf(code) == LogError::kFenced ? LogError::kFenced : LogError::kFatal,
      Said(doing, text));
}

}  // namespace mayfly::kafka_internal
