#include "mayfly/log/topic_partition.h"

namespace mayfly {

std::string TopicPartition::ToString() const {
  return topic + "-" + std::to_string(partition);
}

std::ostream& operator<<(std::ostream& out, const TopicPartition& partition) {
  return out << partition.ToString();
}

std::ostream& operator<<(std::ostream& out, const PartitionOffset& offset) {
  return out << offset.partition << "@" << offset.offset;
}

}  // namespace mayfly
