#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_handle.h"
#include "kafka/kafka_makers.h"
#include "kafka/partition_list.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::kafka_internal {
namespace {

// How long a call waits for brokers.
constexpr int kTimeoutMs = 10'000;

using NewTopicPtr = Owned<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>;
using ConfigResourcePtr =
    Owned<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy>;
using DeleteRecordsPtr =
    Owned<rd_kafka_DeleteRecords_t, rd_kafka_DeleteRecords_destroy>;
using ListOffsetsPtr = Owned<rd_kafka_ListConsumerGroupOffsets_t,
                             rd_kafka_ListConsumerGroupOffsets_destroy>;
using AdminOptionsPtr =
    Owned<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;

absl::Status StatusOf(rd_kafka_resp_err_t code, const char* text,
                      std::string_view doing) {
  return kafka_internal::StatusOf(
      code, text == nullptr
                ? std::string(doing)
                : absl::StrCat(std::string(doing), " (", text, ")"));
}

// A consumer that consumes nothing: it asks, with its isolation level.
class Asker final : public KafkaHandle {
 public:
  absl::Status Open(const KafkaOptions& kafka, const char* isolation_level) {
    return KafkaHandle::Open(RD_KAFKA_CONSUMER, kafka,
                             {{"isolation.level", isolation_level},
                              {"enable.auto.commit", "false"}});
  }

  using KafkaHandle::client;

  struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
  };
  absl::StatusOr<Range> Watermarks(const TopicPartition& partition) {
    Range range;
    MAYFLY_RETURN_IF_ERROR(kafka_internal::StatusOf(
        rd_kafka_query_watermark_offsets(client(), partition.topic.c_str(),
                                         partition.partition, &range.low,
                                         &range.high, kTimeoutMs),
        absl::StrCat("watermarks of ", partition.ToString())));
    return range;
  }
};

class Admin final : public LogAdmin {
 public:
  absl::Status Open(const KafkaOptions& kafka) {
    MAYFLY_RETURN_IF_ERROR(all_.Open(kafka, "read_uncommitted"));
    return committed_.Open(kafka, "read_committed");
  }

  absl::StatusOr<std::string> ClusterId() override {
    char* const id = rd_kafka_clusterid(client(), kTimeoutMs);
    if (id == nullptr) {
      return MakeLogError(LogError::kRetriable,
                          "Kafka, id of the cluster: no broker has told it");
    }
    std::string text(id);
    rd_kafka_mem_free(client(), id);
    return text;
  }

  absl::Status CreateTopic(const NewTopic& topic) override {
    char error[512] = "";
    const NewTopicPtr request(
        rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions,
                              topic.replicas, error, sizeof(error)));
    if (request == nullptr) return MakeLogError(LogError::kRejected, error);
    for (const auto& [name, value] : topic.config) {
      MAYFLY_RETURN_IF_ERROR(kafka_internal::StatusOf(
          rd_kafka_NewTopic_set_config(request.get(), name.c_str(),
                                       value.c_str()),
          name));
    }
    const std::string doing = absl::StrCat("creating topic '", topic.name, "'");
    MAYFLY_ASSIGN_OR_RETURN(
        const EventPtr event, Ask(doing, [&](rd_kafka_queue_t* queue) {
          rd_kafka_NewTopic_t* requests[] = {request.get()};
          rd_kafka_CreateTopics(client(), requests, 1, nullptr, queue);
        }));
    std::size_t count = 0;
    const rd_kafka_topic_result_t** const results =
        rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(event.get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
      MAYFLY_RETURN_IF_ERROR(
          StatusOf(rd_kafka_topic_result_error(results[i]),
                   rd_kafka_topic_result_error_string(results[i]), doing));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::int32_t> PartitionCount(
      const std::string& topic) override {
    const std::string doing = absl::StrCat("partitions of '", topic, "'");
    const TopicPtr asked(rd_kafka_topic_new(client(), topic.c_str(), nullptr));
    if (asked == nullptr) {
      return kafka_internal::StatusOf(rd_kafka_last_error(), doing);
    }
    const rd_kafka_metadata_t* metadata = nullptr;
    MAYFLY_RETURN_IF_ERROR(kafka_internal::StatusOf(
        rd_kafka_metadata(client(), /*all_topics=*/0, asked.get(), &metadata,
                          kTimeoutMs),
        doing));
    const Owned<const rd_kafka_metadata_t, rd_kafka_metadata_destroy> owned(
        metadata);
    if (metadata->topic_cnt != 1) {
      return MakeLogError(LogError::kUnknownTopic, doing);
    }
    MAYFLY_RETURN_IF_ERROR(
        kafka_internal::StatusOf(metadata->topics[0].err, doing));
    return metadata->topics[0].partition_cnt;
  }

  absl::StatusOr<TopicConfig> DescribeConfig(
      const std::string& topic) override {
    const std::string doing = absl::StrCat("settings of '", topic, "'");
    const ConfigResourcePtr request(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    MAYFLY_ASSIGN_OR_RETURN(
        const EventPtr event, Ask(doing, [&](rd_kafka_queue_t* queue) {
          rd_kafka_ConfigResource_t* requests[] = {request.get()};
          rd_kafka_DescribeConfigs(client(), requests, 1, nullptr, queue);
        }));
    std::size_t count = 0;
    const rd_kafka_ConfigResource_t** const resources =
        rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event.get()), &count);
    TopicConfig config;
    for (std::size_t i = 0; i < count; ++i) {
      MAYFLY_RETURN_IF_ERROR(
          StatusOf(rd_kafka_ConfigResource_error(resources[i]),
                   rd_kafka_ConfigResource_error_string(resources[i]), doing));
      std::size_t entries = 0;
      const rd_kafka_ConfigEntry_t** const entry =
          rd_kafka_ConfigResource_configs(resources[i], &entries);
      for (std::size_t j = 0; j < entries; ++j) {
        const char* const value = rd_kafka_ConfigEntry_value(entry[j]);
        config[rd_kafka_ConfigEntry_name(entry[j])] = value ? value : "";
      }
    }
    return config;
  }

  absl::StatusOr<WatermarkOffsets> Watermarks(
      const TopicPartition& partition) override {
    // In this order, so that none is beyond what it cannot be beyond.
    MAYFLY_ASSIGN_OR_RETURN(const Asker::Range stable,
                            committed_.Watermarks(partition));
    MAYFLY_ASSIGN_OR_RETURN(const Asker::Range all, all_.Watermarks(partition));
    return WatermarkOffsets{all.low, all.high, stable.high};
  }

  absl::StatusOr<std::vector<PartitionOffset>> CommittedOffsets(
      const std::string& group,
      std::span<const TopicPartition> partitions) override {
    const std::string doing = absl::StrCat("offsets of group '", group, "'");
    const PartitionListPtr list = ToList(partitions);
    const ListOffsetsPtr request(
        rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), list.get()));
    const AdminOptionsPtr options(rd_kafka_AdminOptions_new(
        client(), RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS));
    MAYFLY_RETURN_IF_ERROR(kafka_internal::StatusOf(
        ErrorPtr(rd_kafka_AdminOptions_set_require_stable_offsets(
            options.get(), /*true_or_false=*/1)),
        doing));
    MAYFLY_ASSIGN_OR_RETURN(
        const EventPtr event, Ask(doing, [&](rd_kafka_queue_t* queue) {
          rd_kafka_ListConsumerGroupOffsets_t* requests[] = {request.get()};
          rd_kafka_ListConsumerGroupOffsets(client(), requests, 1,
                                            options.get(), queue);
        }));
    std::size_t count = 0;
    const rd_kafka_group_result_t** const groups =
        rd_kafka_ListConsumerGroupOffsets_result_groups(
            rd_kafka_event_ListConsumerGroupOffsets_result(event.get()),
            &count);
    std::vector<PartitionOffset> offsets;
    for (std::size_t i = 0; i < count; ++i) {
      if (const rd_kafka_error_t* const error =
              rd_kafka_group_result_error(groups[i])) {
        return StatusOf(rd_kafka_error_code(error),
                        rd_kafka_error_string(error), doing);
      }
      for (const rd_kafka_topic_partition_t& element :
           Elements(*rd_kafka_group_result_partitions(groups[i]))) {
        MAYFLY_RETURN_IF_ERROR(kafka_internal::StatusOf(element.err, doing));
        if (element.offset >= 0) {
          offsets.push_back({FromElement(element), element.offset});
        }
      }
    }
    return offsets;
  }

  absl::Status DeleteRecords(
      std::span<const PartitionOffset> offsets) override {
    const PartitionListPtr list = ToList(offsets);
    const DeleteRecordsPtr request(rd_kafka_DeleteRecords_new(list.get()));
    MAYFLY_ASSIGN_OR_RETURN(
        const EventPtr event,
        Ask("deleting records", [&](rd_kafka_queue_t* queue) {
          rd_kafka_DeleteRecords_t* requests[] = {request.get()};
          rd_kafka_DeleteRecords(client(), requests, 1, nullptr, queue);
        }));
    const rd_kafka_topic_partition_list_t* const results =
        rd_kafka_DeleteRecords_result_offsets(
            rd_kafka_event_DeleteRecords_result(event.get()));
    for (const rd_kafka_topic_partition_t& element : Elements(*results)) {
      MAYFLY_RETURN_IF_ERROR(kafka_internal::StatusOf(
          element.err, absl::StrCat("deleting records of ",
                                    FromElement(element).ToString())));
    }
    return absl::OkStatus();
  }

 private:
  rd_kafka_t* client() const { return all_.client(); }

  // Has `send` make a request, and waits for the answer.
  template <typename Send>
  absl::StatusOr<EventPtr> Ask(std::string_view doing, const Send& send) {
    const QueuePtr queue(rd_kafka_queue_new(client()));
    send(queue.get());
    EventPtr event(rd_kafka_queue_poll(queue.get(), kTimeoutMs));
    if (event == nullptr) {
      return kafka_internal::StatusOf(RD_KAFKA_RESP_ERR__TIMED_OUT, doing);
    }
    MAYFLY_RETURN_IF_ERROR(StatusOf(rd_kafka_event_error(event.get()),
                                    rd_kafka_event_error_string(event.get()),
                                    doing));
    return event;
  }

  Asker all_;
  Asker committed_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LogAdmin>> NewKafkaAdmin(
    const KafkaOptions& kafka) {
  auto admin = std::make_unique<Admin>();
  MAYFLY_RETURN_IF_ERROR(admin->Open(kafka));
  return admin;
}

}  // namespace mayfly::kafka_internal
