// Fills the shards of a job, several at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "runtime/mutex.h"
#include "runtime/restore_meter.h"

namespace mayfly::runtime_internal {

// Threads: what each function says.
class ShardTransfers {
 public:
  using Work = std::function<absl::Status(int shard)>;

  // Lifetime: the meter outlives this.
  ShardTransfers(int shards, RestoreMeter& meter);

  // Has `work` fill each shard, on as many threads as there are cores, and the
  // meter tell how far all of them are. The first error, and a job that is
  // asked to stop, have all of them end soon. Call it once. Threads: the
  // meter's. Errors: the first one of `work`, naming its shard; of the meter.
  absl::Status Run(const Work& work);

  // How far a shard is, in the unit of the meter's step. Shards that have not
  // said yet count like the mean of those that have.
  // Threads: any.
  void Report(int shard, std::uint64_t done, std::uint64_t total);

  // `work` is to end, and what it returns does not matter any more.
  // Threads: any.
  const std::atomic<bool>& stop() const { return stop_; }

 private:
  struct Progress {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };

  // The life of a thread.
  void WorkOff(const Work& work);
  absl::Status TellUntilAllIsDone();
  Progress Sum() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  RestoreMeter& meter_;
  std::atomic<bool> stop_ = false;

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::optional<Progress>> shards_ ABSL_GUARDED_BY(mutex_);
  int next_ ABSL_GUARDED_BY(mutex_) = 0;
  int unfinished_ ABSL_GUARDED_BY(mutex_);
  bool has_news_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mayfly::runtime_internal
