// What the shards of a job have done together.
#pragma once

#include <cstdint>
#include <vector>

#include "mayfly/runtime/job_report.h"
#include "runtime/shard_runner.h"

namespace mayfly::runtime_internal {

struct JobTotals {
  std::uint64_t records = 0;
  std::uint64_t late_elements = 0;
  // Of any shard.
  bool clock_jumped = false;
  // The smallest one that is not 0, if any.
  TimestampMs watermark_ms = 0;
  // By name.
  std::vector<StateStatistics> states;
};

JobTotals TotalsOf(const std::vector<ShardReport>& reports);

}  // namespace mayfly::runtime_internal
