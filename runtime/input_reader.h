// Reads the input once, for all shards.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/clock.h"
#include "runtime/checkpoint_coordinator.h"
#include "runtime/clock_watch.h"
#include "runtime/job_sweeps.h"
#include "runtime/malformed_lines.h"
#include "runtime/progress_reporter.h"
#include "runtime/shard_runner.h"

namespace mayfly::runtime_internal {

using ShardRunners = std::vector<std::unique_ptr<ShardRunner>>;

std::vector<ShardReport> ReportsOf(const ShardRunners& shards);

// Threads: one.
class InputReader {
 public:
  // Lifetime: all of these outlive the reader.
  InputReader(const JobPlan& plan, const TtlClock& clock,
              const ShardRunners& shards, CheckpointCoordinator& checkpoints,
              JobSweeps& sweeps);

  // Goes to the smallest position that a shard has committed.
  // Errors: of the source.
  absl::Status Start();

  // Hands the shards their elements until the input ends, `stop` is set or a
  // shard has cancelled its queue; then closes the queues.
  // Errors: of the source and the router; kResourceExhausted for too many
  // malformed lines.
  absl::Status Run(const std::atomic<bool>& stop);

  // Where reading started and where it has come to.
  const SourcePosition& start() const { return start_; }
  const SourcePosition& position() const { return position_; }
  // Of the whole input, a cut-off last line included.
  std::uint64_t malformed_lines() const { return malformed_.count(); }
  bool at_end() const { return at_end_; }
  const ProgressReporter& progress() const { return progress_; }

 private:
  // Reads a line and routes it.
  absl::StatusOr<SourceRead> ReadLine();
  bool StretchIsFull() const;
  bool MayStop(const std::atomic<bool>& stop) const;

  // Gives every shard its part of what was read since the last time; false if
  // a queue was cancelled.
  bool HandOver();

  // Gives every shard the barrier of a checkpoint if one is due; false if a
  // queue was cancelled.
  bool PassBarrier(bool is_last);

  void ReportProgress();

  const JobPlan& plan_;
  const ShardRunners& shards_;
  CheckpointCoordinator& checkpoints_;
  JobSweeps& sweeps_;
  const std::unique_ptr<LineRouter> router_;
  MalformedLines malformed_;
  ProgressReporter progress_;
  ClockWatch clock_watch_;
  // Lines that each shard had done when reading started.
  std::vector<std::uint64_t> done_lines_;
  // From there on all shards are at the same place.
  std::uint64_t all_done_bytes_ = 0;
  bool idle_ = false;
  SourceLine line_;
  SourcePosition start_;
  SourcePosition position_;
  SourcePosition handed_over_;
  // Malformed lines up to position_.
  std::uint64_t malformed_before_ = 0;
  bool at_end_ = false;
};

}  // namespace mayfly::runtime_internal
