// How a job takes event time from its elements.
#pragma once

#include <chrono>
#include <optional>

#include "absl/status/status.h"

namespace mayfly {

// A shard's watermark is its event time: the largest timestamp of the elements
// that it has seen, less max_out_of_orderness. States in event time take it for
// now, so an entry is expired when the watermark has reached its timestamp plus
// the TTL.
struct EventTimeOptions {
  // How much later than others an element may come and still not be late.
  // Source: Flink WatermarkStrategy.forBoundedOutOfOrderness.
  // Range: 0 or more.
  std::chrono::milliseconds max_out_of_orderness{0};

  // An element that is this much older than the watermark, or more, is counted
  // as late and not processed: what it belongs to may have expired. nullopt:
  // all are processed, however late.
  // Range: 0 or more.
  std::optional<std::chrono::milliseconds> allowed_lateness = std::nullopt;

  // An element whose timestamp is further ahead of processing time than this is
  // taken for malformed: one wrong year would have everything before it
  // expire. nullopt: every timestamp is taken at its word.
  // Range: 0 or more.
  std::optional<std::chrono::milliseconds> max_ahead = std::chrono::hours(24);
};

// Errors: kInvalidArgument naming the first field out of range, the value
// given and what would do.
absl::Status Validate(const EventTimeOptions& options);

}  // namespace mayfly
