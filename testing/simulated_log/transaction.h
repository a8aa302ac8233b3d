// What the coordinator of transactions knows of a transactional id.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "mayfly/log/topic_partition.h"

namespace mayfly::testing_internal {

struct Transaction {
  std::int64_t producer_id = 0;
  // Producers of an older one are fenced.
  std::int64_t epoch = 0;
  std::chrono::milliseconds timeout{};

  // Of the transaction that is open.
  bool is_open = false;
  std::int64_t began_ms = 0;
  std::set<TopicPartition> partitions;
  // By group.
  std::map<std::string, std::map<TopicPartition, std::int64_t>> offsets;
};

}  // namespace mayfly::testing_internal
