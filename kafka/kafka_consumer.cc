#include "kafka/kafka_consumer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "kafka/kafka_error.h"
#include "kafka/partition_list.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::kafka_internal {
namespace {

std::optional<std::string_view> View(const void* bytes, std::size_t size) {
  if (bytes == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(bytes), size);
}

std::vector<Header> HeadersOf(rd_kafka_message_t* message) {
  std::vector<Header> headers;
  rd_kafka_headers_t* list = nullptr;
  if (rd_kafka_message_headers(message, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return headers;
  }
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(list, i, &name, &value, &size) ==
       RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    headers.push_back({name, View(value, size)});
  }
  return headers;
}

ConsumedRecord RecordOf(MessagePtr message) {
  ConsumedRecord record;
  record.topic = rd_kafka_topic_name(message->rkt);
  record.partition = message->partition;
  record.offset = message->offset;
  record.key = View(message->key, message->key_len);
  record.value = View(message->payload, message->len);
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  record.timestamp_ms = rd_kafka_message_timestamp(message.get(), &type);
  record.headers = HeadersOf(message.get());
  record.memory = {
      message.release(), [](void* memory) {
        rd_kafka_message_destroy(static_cast<rd_kafka_message_t*>(memory));
      }};
  return record;
}

}  // namespace

std::map<std::string, std::string> KafkaConsumer::PropertiesOf(
    const std::string& group, IsolationLevel isolation,
    std::size_t prefetch_bytes_max) {
  const std::size_t kib =
      std::clamp<std::size_t>(prefetch_bytes_max >> 10, 1, 2'097'151);
  return {
      {"group.id", group},
      {"isolation.level", isolation == IsolationLevel::kReadCommitted
                              ? "read_committed"
                              : "read_uncommitted"},
      // Never goes on somewhere else by itself.
      {"auto.offset.reset", "error"},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"queued.max.messages.kbytes", std::to_string(kib)},
  };
}

absl::StatusOr<LogEvent> KafkaConsumer::Next(
    std::chrono::milliseconds timeout) {
  MAYFLY_RETURN_IF_ERROR(TakeError());
  MessagePtr message(
      rd_kafka_consumer_poll(client(), static_cast<int>(timeout.count())));
  if (message == nullptr) {
    MAYFLY_RETURN_IF_ERROR(TakeError());
    return LogEvent();
  }
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return EventOf(std::move(message));
  }
  return RecordOf(std::move(message));
}

absl::StatusOr<LogEvent> KafkaConsumer::EventOf(MessagePtr message) {
  if (message->err == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) {
    return LogEvent();  // The listener is told that the partitions are lost.
  }
  const absl::Status status =
      StatusOf(message->err, rd_kafka_message_errstr(message.get()));
  if (message->rkt == nullptr || message->partition < 0) return status;
  TopicPartition partition{rd_kafka_topic_name(message->rkt),
                           message->partition};
  if (!IsAssigned(partition)) return LogEvent();
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    return EndOfPartition{std::move(partition), message->offset};
  }
  if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET &&
      message->offset == RD_KAFKA_OFFSET_INVALID) {
    // The group has committed nothing.
    MAYFLY_RETURN_IF_ERROR(Seek({std::move(partition), kLogStart}));
    return LogEvent();
  }
  if (message->err == RD_KAFKA_RESP_ERR__FATAL) {
    return FatalStatusOf(client(), "a consumer");
  }
  return PartitionError{std::move(partition), status};
}

absl::Status KafkaConsumer::Pause(std::span<const TopicPartition> partitions) {
  return SetPaused(partitions, true);
}

absl::Status KafkaConsumer::Resume(std::span<const TopicPartition> partitions) {
  return SetPaused(partitions, false);
}

absl::Status KafkaConsumer::SetPaused(
    std::span<const TopicPartition> partitions, bool paused) {
  std::vector<TopicPartition> changed;
  for (const TopicPartition& partition : partitions) {
    const auto state = paused_.find(partition);
    if (state == paused_.end() || state->second == paused) continue;
    state->second = paused;
    changed.push_back(partition);
  }
  if (changed.empty()) return absl::OkStatus();
  const PartitionListPtr list = ToList(changed);
  return StatusOf(paused ? rd_kafka_pause_partitions(client(), list.get())
                         : rd_kafka_resume_partitions(client(), list.get()),
                  paused ? "pausing" : "resuming");
}

// rd_kafka_seek() fails on a partition that has stopped at an error. Taking the
// partition away and adding it again does the same, and always works.
absl::Status KafkaConsumer::Seek(const PartitionOffset& offset) {
  const auto state = paused_.find(offset.partition);
  if (state == paused_.end()) {
    return MakeLogError(LogError::kUnknownTopic,
                        absl::StrCat(offset.partition.ToString(),
                                     " is not assigned to this consumer"));
  }
  const bool was_paused = state->second;
  const TopicPartition partitions[] = {offset.partition};
  MAYFLY_RETURN_IF_ERROR(Unassign(partitions));
  const PartitionOffset offsets[] = {offset};
  MAYFLY_RETURN_IF_ERROR(Assign(offsets));
  return was_paused ? Pause(partitions) : absl::OkStatus();
}

absl::Status KafkaConsumer::Assign(
    std::span<const PartitionOffset> partitions) {
  for (const PartitionOffset& at : partitions) paused_[at.partition] = false;
  const PartitionListPtr list = ToList(partitions);
  return StatusOf(ErrorPtr(rd_kafka_incremental_assign(client(), list.get())),
                  "assigning partitions");
}

absl::Status KafkaConsumer::Unassign(
    std::span<const TopicPartition> partitions) {
  // librdkafka would have them paused still when they come again.
  MAYFLY_RETURN_IF_ERROR(Resume(partitions));
  for (const TopicPartition& partition : partitions) paused_.erase(partition);
  const PartitionListPtr list = ToList(partitions);
  return StatusOf(ErrorPtr(rd_kafka_incremental_unassign(client(), list.get())),
                  "giving up partitions");
}

std::vector<TopicPartition> KafkaConsumer::assigned() const {
  std::vector<TopicPartition> partitions;
  for (const auto& [partition, paused] : paused_) {
    partitions.push_back(partition);
  }
  return partitions;
}

}  // namespace mayfly::kafka_internal
