// Objects of librdkafka that free themselves.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

namespace mayfly::kafka_internal {

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

template <typename T, auto kDestroy>
using Owned = std::unique_ptr<T, Destroy<kDestroy>>;

using ConfPtr = Owned<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using ErrorPtr = Owned<rd_kafka_error_t, rd_kafka_error_destroy>;
using EventPtr = Owned<rd_kafka_event_t, rd_kafka_event_destroy>;
using GroupMetadataPtr = Owned<rd_kafka_consumer_group_metadata_t,
                               rd_kafka_consumer_group_metadata_destroy>;
using HeadersPtr = Owned<rd_kafka_headers_t, rd_kafka_headers_destroy>;
using MessagePtr = Owned<rd_kafka_message_t, rd_kafka_message_destroy>;
using QueuePtr = Owned<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using TopicPtr = Owned<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using PartitionListPtr = Owned<rd_kafka_topic_partition_list_t,
                               rd_kafka_topic_partition_list_destroy>;

}  // namespace mayfly::kafka_internal
