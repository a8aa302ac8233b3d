// Names of places in a log.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

namespace mayfly {

struct TopicPartition {
  std::string topic;
  std::int32_t partition = 0;

  // "flights-3".
  std::string ToString() const;

  friend auto operator<=>(const TopicPartition&,
                          const TopicPartition&) = default;
};

std::ostream& operator<<(std::ostream& out, const TopicPartition& partition);

// Where reading starts, besides real offsets.
inline constexpr std::int64_t kLogStart = -2;
inline constexpr std::int64_t kLogEnd = -1;

// A place between two records of a partition: that of the next record to read.
// So the offset to commit after the record at offset 7 is 8.
struct PartitionOffset {
  TopicPartition partition;
  std::int64_t offset = kLogStart;

  friend auto operator<=>(const PartitionOffset&,
                          const PartitionOffset&) = default;
};

std::ostream& operator<<(std::ostream& out, const PartitionOffset& offset);

}  // namespace mayfly
