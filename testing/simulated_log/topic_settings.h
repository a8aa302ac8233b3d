// The settings of a simulated topic.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "mayfly/log/admin.h"

namespace mayfly::testing_internal {

// Those that the simulation acts on, in the units of Kafka's names.
struct TopicSettings {
  bool compact = false;
  bool remove = true;  // "delete" in cleanup.policy.
  std::int64_t segment_bytes = 0;
  std::int64_t segment_ms = 0;
  std::int64_t retention_ms = 0;
  std::int64_t delete_retention_ms = 0;
  std::int64_t min_compaction_lag_ms = 0;
  std::int64_t max_compaction_lag_ms = 0;
  double min_cleanable_dirty_ratio = 0;
  std::int64_t max_message_bytes = 0;
  std::int64_t timestamp_after_max_ms = 0;
};

// `config` with Kafka's defaults for what it leaves out. There may be settings
// in it that change nothing here, such as those of replication.
// Errors: kRejected naming a setting that does not exist.
absl::StatusOr<TopicConfig> WithDefaults(const TopicConfig& config);

// Requires: all settings are in `config`.
// Errors: kRejected naming a setting whose value cannot be.
absl::StatusOr<TopicSettings> ParseSettings(const TopicConfig& config);

}  // namespace mayfly::testing_internal
