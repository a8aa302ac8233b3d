// Moving a shard's state: out of a directory into a savepoint file, and from
// either into a new directory, of another backend or another number of shards.
// Format: docs/savepoint-format.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/clock.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/transfer_progress.h"

namespace mayfly {

struct TransferOptions {
  // Called now and then, and at the end; null to hear nothing.
  std::function<void(const TransferProgress&)> on_progress;
  // Set, it ends the transfer with kCancelled; null: nothing does. Must
  // outlive the call.
  const std::atomic<bool>* stop = nullptr;
  // kMachine waits until the disk has all of it.
  Durability durability = Durability::kProcess;
};

// Writes the state of a shard, as of its last commit, into one new file that
// either backend can be restored from. `shard_directory` is one that nobody
// writes to: a checkpoint, or what a process that is gone has left. Of a shard
// that is open, take a KeyedStateBackend::Checkpoint() and write that. States
// with CleanupFullSnapshot() go without what had expired at that commit. The
// file is not there until it is whole.
// Errors: kFailedPrecondition if the file is there already, or a backend has
// the directory open; kNotFound, kFailedPrecondition and kDataLoss for the
// directory; kCancelled; kResourceExhausted for a full disk; kPermissionDenied
// and kUnavailable as the disk has it. An error leaves no file.
absl::StatusOr<TransferProgress> WriteSavepoint(
    const std::string& shard_directory, const std::string& file,
    const TransferOptions& options = {});

struct RestorePlan {
  // Savepoint files and directories of shards, each key in one of them. All
  // must have their states in common.
  std::vector<std::string> sources;

  // Of their keys, those that PartitionForKey(key, shards) gives to `shard` are
  // restored.  Range: 0 <= shard < shards.
  int shard = 0;
  int shards = 1;

  // What KeyedStateBackend::committed_position() will be; nullopt: that of the
  // sources, which must all have the same.
  std::optional<std::string> position = std::nullopt;

  // What is expired now is left out; null is SystemClock(). States in event
  // time go by the time of their source.
  std::shared_ptr<const TtlClock> processing_clock = nullptr;
};

// Fills the directory of `target`, which must not be there or be empty, with
// the state of the sources. Each state keeps its timestamps and the TTL that is
// recorded for it. The directory is not there until it is whole; a restore that
// was killed is begun anew by the next.
// Errors: kInvalidArgument for the plan, and for a source that is another kind
// of file; kFailedPrecondition if the directory
// is not empty, a source is open or the sources do not fit together, naming
// what differs; kDataLoss for a damaged source, and as WriteSavepoint(). An
// error leaves no directory.
absl::StatusOr<TransferProgress> RestoreShard(
    const RestorePlan& plan, const BackendOptions& target,
    const TransferOptions& options = {});

}  // namespace mayfly
