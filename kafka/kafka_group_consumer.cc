#include <utility>

#include "absl/strings/str_cat.h"
#include "kafka/kafka_consumer.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_makers.h"
#include "kafka/partition_list.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::kafka_internal {
namespace {

// How long Close() waits: for the first assignment, and for the group. Counted
// in steps, some of which are shorter.
constexpr int kCloseSteps = 100;
constexpr int kCloseStepMs = 100;

class Member final : public GroupConsumer, private KafkaConsumer {
 public:
  explicit Member(RebalanceListener& listener) : listener_(listener) {}

  ~Member() override {
    if (!is_closed_) Close().IgnoreError();
  }

  absl::Status Open(const KafkaOptions& kafka,
                    const GroupConsumerOptions& options) {
    auto ours = PropertiesOf(options.group, options.isolation,
                             options.prefetch_bytes_max);
    ours["partition.assignment.strategy"] = "cooperative-sticky";
    ours["session.timeout.ms"] =
        std::to_string(options.session_timeout.count());
    ours["max.poll.interval.ms"] =
        std::to_string(options.poll_interval_max.count());
    if (options.instance_id) ours["group.instance.id"] = *options.instance_id;
    topics_ = options.topics;
    return KafkaConsumer::Open(RD_KAFKA_CONSUMER, kafka, ours);
  }

  absl::StatusOr<LogEvent> Poll(std::chrono::milliseconds timeout) override {
    if (!has_joined_) MAYFLY_RETURN_IF_ERROR(Join());
    MAYFLY_RETURN_IF_ERROR(std::exchange(rebalance_status_, absl::OkStatus()));
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

  absl::Status Commit(std::span<const PartitionOffset> offsets) override {
    if (offsets.empty()) return absl::OkStatus();
    const PartitionListPtr list = ToList(offsets);
    MAYFLY_RETURN_IF_ERROR(StatusOf(
        rd_kafka_commit(client(), list.get(), /*async=*/0), "committing"));
    for (const rd_kafka_topic_partition_t& element : Elements(*list)) {
      MAYFLY_RETURN_IF_ERROR(StatusOf(
          element.err,
          absl::StrCat("committing ", FromElement(element).ToString())));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<GroupMetadata> metadata() const override {
    const GroupMetadataPtr metadata(rd_kafka_consumer_group_metadata(client()));
    void* bytes = nullptr;
    std::size_t size = 0;
    if (metadata == nullptr || !is_assigned_ || !IsMember()) {
      return MakeLogError(LogError::kRetriable,
                          "the consumer is not in its group: Poll() it");
    }
    MAYFLY_RETURN_IF_ERROR(
        StatusOf(ErrorPtr(rd_kafka_consumer_group_metadata_write(
                     metadata.get(), &bytes, &size)),
                 "metadata of a group"));
    GroupMetadata written{std::string(static_cast<const char*>(bytes), size)};
    rd_kafka_mem_free(client(), bytes);
    return written;
  }

  // Not before the first assignment: librdkafka before 2.3 may crash. And not
  // for ever: it may hang.
  absl::Status Close() override {
    is_closed_ = true;
    if (!has_joined_) return absl::OkStatus();
    for (int i = 0; i < kCloseSteps && !is_assigned_; ++i) {
      Next(std::chrono::milliseconds(kCloseStepMs)).IgnoreError();
    }
    if (!is_assigned_) return NotClosed();
    const QueuePtr queue(rd_kafka_queue_new(client()));
    MAYFLY_RETURN_IF_ERROR(
        StatusOf(ErrorPtr(rd_kafka_consumer_close_queue(client(), queue.get())),
                 "leaving a group"));
    for (int i = 0; i < kCloseSteps && !rd_kafka_consumer_closed(client());
         ++i) {
      Serve(EventPtr(rd_kafka_queue_poll(queue.get(), kCloseStepMs)));
    }
    return rd_kafka_consumer_closed(client()) ? absl::OkStatus() : NotClosed();
  }

 private:
  static absl::Status NotClosed() {
    return MakeLogError(LogError::kRetriable,
                        "the group did not answer: it will find out by the "
                        "session's timeout that this member is gone");
  }

  // While a consumer is closed, the last rebalance comes as an event, among
  // records that were fetched and are of no use any more.
  void Serve(const EventPtr& event) {
    if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_REBALANCE) return;
    OnRebalance(rd_kafka_event_error(event.get()),
                rd_kafka_event_topic_partition_list(event.get()));
  }

  absl::Status Join() {
    std::vector<TopicPartition> topics;
    topics.reserve(topics_.size());
    for (const std::string& topic : topics_) {
      topics.push_back({topic, RD_KAFKA_PARTITION_UA});
    }
    const PartitionListPtr list = ToList(topics);
    MAYFLY_RETURN_IF_ERROR(
        StatusOf(rd_kafka_subscribe(client(), list.get()), "subscribing"));
    has_joined_ = true;
    return absl::OkStatus();
  }

  // Of one that has lost its place librdkafka gives metadata that fence nobody.
  bool IsMember() const {
    char* const id = rd_kafka_memberid(client());
    const bool is_member = id != nullptr && *id != '\0';
    rd_kafka_mem_free(client(), id);
    return is_member;
  }

  // librdkafka waits for the partitions to be assigned, or given up, in here;
  // the list may be empty.
  void OnRebalance(rd_kafka_resp_err_t code,
                   rd_kafka_topic_partition_list_t* list) override {
    const std::vector<TopicPartition> partitions =
        list == nullptr ? assigned() : FromList(*list);
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      is_assigned_ = true;
      rebalance_status_.Update(Take(partitions));
      return;
    }
    if (!partitions.empty()) {
      if (code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS ||
          rd_kafka_assignment_lost(client())) {
        listener_.OnLost(partitions);
      } else {
        listener_.OnRevoked(partitions);
      }
    }
    rebalance_status_.Update(Unassign(partitions));
  }

  absl::Status Take(const std::vector<TopicPartition>& partitions) {
    std::vector<Assignment> assignments;
    assignments.reserve(partitions.size());
    for (const TopicPartition& partition : partitions) {
      assignments.push_back({partition});
    }
    if (!partitions.empty()) listener_.OnAssigned(assignments);
    std::vector<PartitionOffset> offsets;
    offsets.reserve(partitions.size());
    for (const Assignment& assignment : assignments) {
      offsets.push_back({assignment.partition,
                         assignment.offset.value_or(RD_KAFKA_OFFSET_INVALID)});
    }
    return Assign(offsets);
  }

  RebalanceListener& listener_;
  std::vector<std::string> topics_;
  bool has_joined_ = false;
  bool is_assigned_ = false;  // Even of nothing.
  bool is_closed_ = false;
  absl::Status rebalance_status_;  // For the next Poll().
};

}  // namespace

absl::StatusOr<std::unique_ptr<GroupConsumer>> NewKafkaGroupConsumer(
    const KafkaOptions& kafka, const GroupConsumerOptions& options,
    RebalanceListener& listener) {
  auto member = std::make_unique<Member>(listener);
  MAYFLY_RETURN_IF_ERROR(member->Open(kafka, options));
  return member;
}

}  // namespace mayfly::kafka_internal
