// What the log cleaner of a broker does with a partition.
#pragma once

#include <cstdint>

#include "testing/simulated_log/partition_log.h"

namespace mayfly::testing_internal {

// One pass of compaction, if enough is dirty or something has been dirty for
// too long. Keeps of each key the newest record; removes tombstones and markers
// of transactions whose delete horizon is past, and gives one to those that
// have none.
// Source: Kafka 4.1, LogCleaner and Cleaner; KIP-534.
void Compact(PartitionLog& log, const TopicSettings& settings,
             std::int64_t now_ms);

// Removes segments from the start whose newest record is older than
// `retention.ms`, the active one too if all are.
void ApplyRetention(PartitionLog& log, const TopicSettings& settings,
                    std::int64_t now_ms);

}  // namespace mayfly::testing_internal
