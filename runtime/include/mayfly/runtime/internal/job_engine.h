// Runs a job whose types are hidden behind two interfaces: a router that turns
// lines into batches, and shards that process those.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/runtime/job_report.h"
#include "mayfly/runtime/sink.h"
#include "mayfly/runtime/source.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/checkpoint.h"
#include "mayfly/state/clean_up.h"
#include "mayfly/state/commit_progress.h"
#include "mayfly/state/disk_sweeper.h"
#include "mayfly/state/state_statistics.h"

namespace mayfly::runtime_internal {

// Elements of one shard from a stretch of the input, in its order. The elements
// are in the derived class that the router makes and the shard knows.
struct Batch {
  virtual ~Batch() = default;

  std::size_t records = 0;
};

// The typed half of reading.
// Threads: one, the reader's.
class LineRouter {
 public:
  virtual ~LineRouter() = default;

  // Deserialises a line and adds it to the batch of the shard where its key
  // lives, unless `done_lines` says that this shard has got past it. Returns
  // why the line is malformed, nullopt if it is not.
  // Errors: kInternal if what the user gave threw.
  virtual absl::StatusOr<std::optional<std::string>> Route(
      const SourceLine& line, const std::vector<std::uint64_t>& done_lines) = 0;

  // What has gathered for a shard since the last call.
  virtual std::unique_ptr<Batch> TakeBatch(int shard) = 0;
};

// The typed half of a shard: its backend and its function.
// Threads: one at a time.
class Shard {
 public:
  virtual ~Shard() = default;

  // Opens the backend at its last commit, and the function.
  // Errors: of the backend and of the function.
  virtual absl::Status Open(const BackendOptions& options) = 0;

  // What the last commit was given; nullopt if there has been none.
  virtual std::optional<std::string> committed_position() const = 0;

  // Errors: of the function and of the writer, naming line and key.
  virtual absl::Status Process(const Batch& batch, std::string_view source,
                               SinkWriter& writer) = 0;

  // As KeyedStateBackend::BeginCommit(), and so on.
  // Errors: of the backend.
  virtual absl::Status BeginCommit(std::string_view position) = 0;
  virtual bool committing() const = 0;
  virtual CommitProgress StepCommit() = 0;
  virtual absl::Status FinishCommit() = 0;

  // As KeyedStateBackend::Checkpoint().
  // Errors: of the backend.
  virtual absl::StatusOr<CheckpointFiles> Checkpoint(
      const std::string& directory) = 0;

  virtual bool commit_due() const = 0;

  virtual TimestampMs watermark_ms() const = 0;

  // Elements that were not processed for being late, since Open().
  virtual std::uint64_t late_elements() const = 0;

  // As KeyedStateBackend::clock_jumped().
  virtual bool clock_jumped() const = 0;

  // As KeyedStateBackend::disk_sweeper().
  virtual std::shared_ptr<DiskSweeper> disk_sweeper() const = 0;

  // As KeyedStateBackend::CleanUpInBackground().
  // Errors: of the backend.
  virtual absl::StatusOr<CleanUpResult> CleanUpInBackground(
      std::uint64_t entries_max) = 0;

  // Errors: of the backend.
  virtual absl::StatusOr<std::vector<StateStatistics>> Statistics(
      std::uint64_t visits_max) = 0;
};

// What a running job is asked to do.
// Threads: any, signal handlers too.
struct JobRequests {
  std::atomic<bool> stop = false;
  std::atomic<bool> checkpoint = false;
  std::atomic<bool> savepoint = false;
};

struct JobPlan {
  JobOptions options;
  std::unique_ptr<Source> source;
  std::unique_ptr<Sink> sink;
  std::function<std::unique_ptr<LineRouter>()> make_router;
  std::function<std::unique_ptr<Shard>(int shard)> make_shard;
  std::chrono::milliseconds progress_interval{0};
  std::function<void(const JobProgress&)> on_progress;
  std::function<void(const MalformedLine&)> on_malformed_line;
  std::function<void(std::string_view)> log;
  // A plan runs once: its source and its sink are used up.
  bool started = false;
};

// Errors: kInvalidArgument naming the first part that is not there.
absl::Status CheckParts(
    std::initializer_list<std::pair<std::string_view, bool>> parts);

// Runs the plan until its input ends or it is asked to stop.
// Errors: as Job::Run().
absl::StatusOr<JobSummary> RunJob(JobPlan& plan, JobRequests& requests);

}  // namespace mayfly::runtime_internal
