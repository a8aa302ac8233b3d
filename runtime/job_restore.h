// Gives a job the state that a checkpoint or a savepoint holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/job_directory.h"
#include "runtime/restore_meter.h"
#include "runtime/shard_transfers.h"

namespace mayfly::runtime_internal {

// Where the shards of a job begin that goes on from a checkpoint.
struct RestoredPositions {
  std::vector<v1::ShardPosition> shards;
  // With the output that is there; or with another one, which begins empty.
  bool output_goes_on = false;
  // Lengths of the parts of the output that have no shard any more.
  std::vector<std::uint64_t> retired_output_bytes;
};

// With the number of shards that it was taken with, each shard is where it
// was. With another one all begin at the same line, what was counted is shard
// 0's, and a shard has the part of the output that bears its number. The output
// begins anew where `output_is_there` is false, and between one shard, which
// writes a file, and several, which write a directory.
RestoredPositions PositionsFor(const v1::CheckpointManifest& manifest,
                               int shards, bool output_is_there);

// Threads: one.
class JobRestore {
 public:
  // Chooses what to restore from and checks all of its files.
  // Lifetime: plan and meter outlive this.
  // Errors: kNotFound if there is nothing; kDataLoss if nothing is whole;
  // kFailedPrecondition if it is of another job or of a newer version;
  // kCancelled.
  static absl::StatusOr<JobRestore> Find(const JobPlan& plan,
                                         RestoreMeter& meter);

  const std::string& path() const { return path_; }
  const v1::Lineage& lineage() const { return manifest_.lineage(); }
  const RestoredPositions& positions() const { return positions_; }

  // Makes the directories of all shards, which must not be there, for backends
  // with these options, several at once.
  // Errors: of RestoreShard(); kCancelled; as state_internal::FileError().
  absl::Status FillShards(const BackendOptions& backend,
                          const JobDirectory& directory) const;

 private:
  JobRestore(const JobPlan& plan, RestoreMeter& meter, std::string path,
             v1::CheckpointManifest manifest);

  // Lines were written that the output to come will not have.
  bool BeginsOutputAnew() const;

  static absl::StatusOr<JobRestore> Load(const JobPlan& plan,
                                         RestoreMeter& meter,
                                         const std::string& path);
  bool MayCopy() const;
  absl::Status CopyShard(int shard, const std::string& directory,
                         ShardTransfers& transfers) const;
  absl::Status LoadShard(int shard, const BackendOptions& target,
                         ShardTransfers& transfers) const;
  std::vector<std::string> SourcesOf(int shard) const;

  const JobPlan* plan_;
  RestoreMeter* meter_;
  std::string path_;
  v1::CheckpointManifest manifest_;
  RestoredPositions positions_;
};

}  // namespace mayfly::runtime_internal
