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
#include "mayfly/state/sweep_scheduler.h"

namespace mayfly {

struct MalformedLine {
  std::string file;
  // Counted from 1.
  std::uint64_t line = 0;
  std::string reason;

  // "flights.ndjson:17: reason".
  std::string ToString() const;
};

// What checkpoints and savepoints have come to in this run.
struct CheckpointReport {
  std::uint64_t taken = 0;
  std::uint64_t failed = 0;
  // The directory of the newest one that was taken; empty if none was.
  std::string newest;
  // Of that one: all of its files, and those that the one before it does not
  // have.  Unit: bytes.
  std::uint64_t newest_bytes = 0;
  std::uint64_t newest_bytes_new = 0;

  friend bool operator==(const CheckpointReport&,
                         const CheckpointReport&) = default;
};

enum class RestoreStep : std::uint8_t {
  // All files are read and compared with what was written.  Unit: bytes.
  kChecking = 1,
  // Then they are taken over as they are.  Unit: bytes.
  kCopying = 2,
  // Or they are for another backend or another number of shards.  Unit: keys
  // that are read, of an estimated total.
  kLoading = 3,
};

// How far a restore has come, before the job works.
struct RestoreProgress {
  // The checkpoint or savepoint.
  std::string source;
  RestoreStep step = RestoreStep::kChecking;
  // Of this step.
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double per_second = 0;
  std::chrono::milliseconds left{0};

  // "checking /ckpt/checkpoint-00007: 12 of 400 MB, 90 a second, 4 s left".
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
  // What sweeps of the disk have done in this run, and the last of them, the
  // oldest first, up to SweepScheduler::kHistoryMax.
  SweepReport swept;
  std::vector<SweepRecord> sweeps;
  CheckpointReport checkpoints;
  CheckpointReport savepoints;
  // While the state is restored; nothing else but `elapsed` is known then.
  std::optional<RestoreProgress> restore;
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

// A part of the output that has no shard any more.
struct RetiredOutput {
  std::string name;
  std::uint64_t bytes = 0;
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
  // As in JobProgress.
  SweepReport swept;
  std::vector<SweepRecord> sweeps;
  CheckpointReport checkpoints;
  CheckpointReport savepoints;
  std::vector<ShardSummary> shards;
  // Written when the job had more shards, and the job's still.
  std::vector<RetiredOutput> retired_outputs;
};

}  // namespace mayfly
