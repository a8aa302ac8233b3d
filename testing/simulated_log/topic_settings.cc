#include "testing/simulated_log/topic_settings.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"

namespace mayfly::testing_internal {
namespace {

// Source: Kafka 4.1, topic configuration.
const TopicConfig& Defaults() {
  static const auto& defaults = *new TopicConfig{
      {"cleanup.policy", "delete"},
      {"compression.type", "producer"},
      {"delete.retention.ms", "86400000"},
      {"file.delete.delay.ms", "60000"},
      {"max.compaction.lag.ms", "9223372036854775807"},
      {"max.message.bytes", "1048588"},
      {"message.timestamp.after.max.ms", "3600000"},
      {"message.timestamp.type", "CreateTime"},
      {"min.cleanable.dirty.ratio", "0.5"},
      {"min.compaction.lag.ms", "0"},
      {"min.insync.replicas", "1"},
      {"retention.bytes", "-1"},
      {"retention.ms", "604800000"},
      {"segment.bytes", "1073741824"},
      {"segment.ms", "604800000"},
      {"unclean.leader.election.enable", "false"},
  };
  return defaults;
}

absl::Status Rejected(const std::string& name, const std::string& value) {
  return MakeLogError(LogError::kRejected,
                      absl::StrCat("a topic cannot have ", name, "=", value));
}

}  // namespace

absl::StatusOr<TopicConfig> WithDefaults(const TopicConfig& config) {
  TopicConfig all = Defaults();
  for (const auto& [name, value] : config) {
    const auto setting = all.find(name);
    if (setting == all.end()) return Rejected(name, value);
    setting->second = value;
  }
  return all;
}

absl::StatusOr<TopicSettings> ParseSettings(const TopicConfig& config) {
  TopicSettings settings;
  const std::string& policy = config.at("cleanup.policy");
  settings.compact = policy.find("compact") != std::string::npos;
  settings.remove = policy.find("delete") != std::string::npos;
  if (!settings.compact && !settings.remove) {
    return Rejected("cleanup.policy", policy);
  }
  const struct {
    const char* name;
    std::int64_t& value;
  } numbers[] = {
      {"segment.bytes", settings.segment_bytes},
      {"segment.ms", settings.segment_ms},
      {"retention.ms", settings.retention_ms},
      {"delete.retention.ms", settings.delete_retention_ms},
      {"min.compaction.lag.ms", settings.min_compaction_lag_ms},
      {"max.compaction.lag.ms", settings.max_compaction_lag_ms},
      {"max.message.bytes", settings.max_message_bytes},
      {"message.timestamp.after.max.ms", settings.timestamp_after_max_ms},
  };
  for (const auto& number : numbers) {
    const std::string& text = config.at(number.name);
    if (!absl::SimpleAtoi(text, &number.value)) {
      return Rejected(number.name, text);
    }
  }
  const std::string& ratio = config.at("min.cleanable.dirty.ratio");
  if (!absl::SimpleAtod(ratio, &settings.min_cleanable_dirty_ratio)) {
    return Rejected("min.cleanable.dirty.ratio", ratio);
  }
  return settings;
}

}  // namespace mayfly::testing_internal
