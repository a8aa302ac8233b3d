// What a job tells of itself while it runs and when it is done.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mayfly/compaction/sweep_options.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/state_statistics.h"

namespace mayfly {

struct MalformedLine {
  std::string file;
  // Counted from 1.
  std::uint64_t line = 0;
  std::string reason;

  // "flights.ndjson:17: reason".
  std::string ToString() const;
};

struct JobProgress {
  // In this run.
  std::chrono::milliseconds elapsed{0};
  // Processed by all shards, in earlier runs too.
  std::uint64_t records = 0;
  // Since the last report.
  double records_per_second = 0;
  // Read of the input, and its size if that is known.  Unit: bytes.
  std::uint64_t input_bytes = 0;
  std::optional<std::uint64_t> input_bytes_total;
  std::uint64_t malformed_lines = 0;
  // Not processed for being late, as EventTimeOptions::allowed_lateness has it.
  std::uint64_t late_elements = 0;
  // The smallest one of the shards that have seen an event time; 0 if none
  // has.
  TimestampMs watermark_ms = 0;
  // Summed over the shards, each as of a commit not long ago.
  std::vector<StateStatistics> states;
};

struct ShardSummary {
  // Where its state lies; empty if nothing is kept.
  std::string directory;
  // Where its lines went.
  std::string output;
  // In all runs.  Unit: output in bytes.
  std::uint64_t records = 0;
  std::uint64_t output_bytes = 0;
  // In this run.
  std::uint64_t commits = 0;
  TimestampMs watermark_ms = 0;
};

struct JobSummary {
  // The input was read to its end; false if the job was asked to stop.
  bool complete = false;
  // It had been complete before, and there was nothing new.
  bool already_complete = false;
  // In this run.
  std::chrono::milliseconds elapsed{0};
  std::uint64_t records_in_this_run = 0;
  // In all runs.
  std::uint64_t records = 0;
  std::uint64_t input_lines = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t malformed_lines = 0;
  // Not processed for being late, as EventTimeOptions::allowed_lateness has it;
  // they count as records all the same.
  std::uint64_t late_elements = 0;
  // Summed over the shards, as of the last commits.
  std::vector<StateStatistics> states;
  // What sweeps of the disk have done in this run.
  SweepReport swept;
  std::vector<ShardSummary> shards;
};

}  // namespace mayfly
