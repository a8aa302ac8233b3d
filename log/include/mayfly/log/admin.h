// Questions to a log's brokers, and orders.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/log/topic_partition.h"

namespace mayfly {

// Names and values as in Kafka's documentation: "cleanup.policy", "compact".
using TopicConfig = std::map<std::string, std::string>;

struct NewTopic {
  std::string name;
  // Range: 1 or more.
  std::int32_t partitions = 1;
  // -1: what the broker does by default.
  std::int32_t replicas = -1;
  TopicConfig config = {};
};

// Of a partition.
struct WatermarkOffsets {
  // The first offset of the log. It rises by retention, and not by compaction.
  std::int64_t low = 0;
  // One past the last record that readers may see, of whatever transaction.
  std::int64_t high = 0;
  // As `high`, for readers of what is committed.
  std::int64_t last_stable = 0;

  friend bool operator==(const WatermarkOffsets&,
                         const WatermarkOffsets&) = default;
};

// Threads: any. Each call waits for the brokers, some seconds at most; keep it
// off the polling thread.
// Errors: of every call, kRetriable, kDenied and kFatal. They say that the
// answer is not known, never that there is none.
class LogAdmin {
 public:
  virtual ~LogAdmin() = default;

  // The same for the life of a cluster, and different for each.
  virtual absl::StatusOr<std::string> ClusterId() = 0;

  // Errors: kTopicExists; kRejected for settings that cannot be.
  virtual absl::Status CreateTopic(const NewTopic& topic) = 0;

  // Errors: kUnknownTopic.
  virtual absl::StatusOr<std::int32_t> PartitionCount(
      const std::string& topic) = 0;

  // All settings as they are in force, with the broker's defaults.
  // Errors: kUnknownTopic.
  virtual absl::StatusOr<TopicConfig> DescribeConfig(
      const std::string& topic) = 0;

  // Errors: kUnknownTopic.
  virtual absl::StatusOr<WatermarkOffsets> Watermarks(
      const TopicPartition& partition) = 0;

  // What the group has committed of `partitions`; those of which it has
  // committed nothing are left out.
  // Errors: kRetriable also while a transaction is about to commit some.
  virtual absl::StatusOr<std::vector<PartitionOffset>> CommittedOffsets(
      const std::string& group, std::span<const TopicPartition> partitions) = 0;

  // Removes what lies below each offset: it becomes the low watermark.
  // Errors: kOffsetOutOfRange beyond the end; kUnknownTopic; kRejected for a
  // topic that is compacted and nothing else.
  virtual absl::Status DeleteRecords(
      std::span<const PartitionOffset> offsets) = 0;
};

}  // namespace mayfly
