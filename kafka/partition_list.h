// Lists of partitions, to librdkafka and from it.
#pragma once

#include <librdkafka/rdkafka.h>

#include <span>
#include <vector>

#include "kafka/rdkafka_types.h"
#include "mayfly/log/topic_partition.h"

namespace mayfly::kafka_internal {

PartitionListPtr ToList(std::span<const TopicPartition> partitions);
PartitionListPtr ToList(std::span<const PartitionOffset> offsets);

TopicPartition FromElement(const rd_kafka_topic_partition_t& element);
std::vector<TopicPartition> FromList(
    const rd_kafka_topic_partition_list_t& list);

// The elements of a list.
inline std::span<rd_kafka_topic_partition_t> Elements(
    const rd_kafka_topic_partition_list_t& list) {
  return {list.elems, static_cast<std::size_t>(list.cnt)};
}

}  // namespace mayfly::kafka_internal
