#include "kafka/partition_list.h"

namespace mayfly::kafka_internal {
namespace {

rd_kafka_topic_partition_t& Add(rd_kafka_topic_partition_list_t& list,
                                const TopicPartition& partition) {
  return *rd_kafka_topic_partition_list_add(&list, partition.topic.c_str(),
                                            partition.partition);
}

PartitionListPtr NewList(std::size_t size) {
  return PartitionListPtr(
      rd_kafka_topic_partition_list_new(static_cast<int>(size)));
}

}  // namespace

PartitionListPtr ToList(std::span<const TopicPartition> partitions) {
  PartitionListPtr list = NewList(partitions.size());
  for (const TopicPartition& partition : partitions) Add(*list, partition);
  return list;
}

PartitionListPtr ToList(std::span<const PartitionOffset> offsets) {
  PartitionListPtr list = NewList(offsets.size());
  for (const PartitionOffset& at : offsets) {
    Add(*list, at.partition).offset = at.offset;
  }
  return list;
}

TopicPartition FromElement(const rd_kafka_topic_partition_t& element) {
  return {element.topic, element.partition};
}

std::vector<TopicPartition> FromList(
    const rd_kafka_topic_partition_list_t& list) {
  std::vector<TopicPartition> partitions;
  for (const rd_kafka_topic_partition_t& element : Elements(list)) {
    partitions.push_back(FromElement(element));
  }
  return partitions;
}

}  // namespace mayfly::kafka_internal
