// When checkpoints and savepoints of a job are taken, and what becomes of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/runtime/job_report.h"
#include "mayfly/serde/clock.h"
#include "runtime/capture.h"
#include "runtime/checkpoint_store.h"
#include "runtime/interval_timer.h"
#include "runtime/job_directory.h"
#include "runtime/mutex.h"
#include "runtime/stopwatch.h"

namespace mayfly::runtime_internal {

// The reader asks it between two lines whether all shards should be captured
// there; a thread of its own stores what they have captured, so that neither
// the reader nor a shard waits for that.
// Threads: any.
class CheckpointCoordinator {
 public:
  // Lifetime: what it is given outlives it.
  CheckpointCoordinator(CheckpointStores stores, const JobPlan& plan,
                        const JobDirectory& directory, const TtlClock& clock,
                        JobRequests& requests);
  CheckpointCoordinator(const CheckpointCoordinator&) = delete;
  CheckpointCoordinator& operator=(const CheckpointCoordinator&) = delete;
  // As Finish(), but calls nobody.
  ~CheckpointCoordinator();

  // Something is to be captured when the job stops.
  bool on_stop() const;

  // What all shards are to capture at this place of the input; null if nothing
  // is due, or what was captured before is not stored yet. `is_last` when the
  // job stops.
  // Threads: the reader's.
  std::shared_ptr<Capture> Begin(const SourcePosition& position, bool is_last);

  // Stores what all shards have captured, and forgets what only some have:
  // none of them works any more.
  void Finish();

  CheckpointReport checkpoints() const;
  CheckpointReport savepoints() const;

  // Of the savepoint on stop, if there was to be one.
  absl::Status last_savepoint() const;

 private:
  struct Order {
    std::shared_ptr<Capture> capture;
    bool checkpoint = false;
    bool savepoint = false;
    bool is_last = false;
    Stopwatch begun;
    TimestampMs time_ms = 0;
  };

  bool CheckpointDue(const SourcePosition& position, bool is_last);
  bool SavepointDue(bool is_last);
  // Says what cannot be done without a place for it.
  void RefuseRequests();
  // The plan's log is the reader's, too.
  void PassOnMessages();

  void StopThread();

  // The life of the thread.
  void StoreAll();
  std::optional<Order> Next();
  void Store(const Order& order);
  absl::StatusOr<CapturedJob> CapturedOf(const Order& order) const;
  void Count(const absl::StatusOr<StoreResult>& result,
             CheckpointReport& report) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const JobPlan& plan_;
  const JobDirectory& directory_;
  const TtlClock& clock_;
  JobRequests& requests_;
  CheckpointStores stores_;

  // The reader's.
  std::optional<IntervalTimer> timer_;
  std::uint64_t captures_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  // In the order in which they were begun; the first may be being stored.
  std::deque<Order> orders_ ABSL_GUARDED_BY(mutex_);
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  CheckpointReport checkpoints_ ABSL_GUARDED_BY(mutex_);
  CheckpointReport savepoints_ ABSL_GUARDED_BY(mutex_);
  absl::Status last_savepoint_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> messages_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace mayfly::runtime_internal
