// The sweeps of a job's disks, and what there is to say of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/clock.h"
#include "mayfly/state/sweep_scheduler.h"
#include "runtime/mutex.h"

namespace mayfly::runtime_internal {

// Threads: one, the reader's.
class JobSweeps {
 public:
  // Lifetime: the plan outlives this.
  JobSweeps(const JobPlan& plan, std::shared_ptr<const TtlClock> clock);

  void Add(std::string shard, std::shared_ptr<DiskSweeper> sweeper);

  // Does nothing without JobOptions::disk_sweeps.
  // Errors: as SweepScheduler::Start().
  absl::Status Start();

  // Waits for sweeps under way.
  void Stop();

  // Logs what went wrong since the last time: of a shard once, until it fails
  // otherwise or has been swept again.
  void PassOnErrors();

  SweepReport totals() const;
  std::vector<SweepRecord> history() const;

 private:
  // On a thread of the scheduler.
  void Note(const SweepRecord& record);

  const JobPlan& plan_;
  Mutex mutex_;
  std::vector<std::string> messages_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> failing_ ABSL_GUARDED_BY(mutex_);
  // Null without sweeps. The last, as its threads use what is above.
  std::unique_ptr<SweepScheduler> scheduler_;
};

}  // namespace mayfly::runtime_internal
