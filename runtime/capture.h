// A barrier on its way through the shards of a job.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/checkpoint.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/mutex.h"

namespace mayfly::runtime_internal {

// A shard as it was when the barrier came to it.
struct CapturedShard {
  v1::ShardPosition position;
  CheckpointFiles files;
  // For which it was held up.
  std::chrono::milliseconds pause{0};
};

// Put into the queues of all shards between the same two lines of the input.
// When it comes to a shard, that commits, leaves a copy of what it has
// committed in the directory for it, and goes on.
// Threads: any.
class Capture {
 public:
  // `on_complete` is called once, by the last shard.
  Capture(std::string directory, int shards, std::function<void()> on_complete);

  const std::string& directory() const { return directory_; }
  std::string ShardDirectory(int shard) const;

  // Called once a shard.
  void Add(int shard, absl::StatusOr<CapturedShard> captured);

  bool complete() const;

  // All shards, in their order. Call it when all are there.
  // Errors: the first of a shard, naming it; kFailedPrecondition if they do not
  // stand at the same place of the input.
  absl::StatusOr<std::vector<CapturedShard>> Take();

 private:
  const std::string directory_;
  const std::function<void()> on_complete_;
  mutable Mutex mutex_;
  int missing_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<CapturedShard> shards_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mayfly::runtime_internal
