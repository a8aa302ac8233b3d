// Where a job's lines go.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/backend_options.h"

namespace mayfly {

// The output of one shard.
// Threads: one, the shard's.
class SinkWriter {
 public:
  virtual ~SinkWriter() = default;

  // What messages call it.
  virtual const std::string& name() const = 0;

  // Adds a line; the writer ends it. It may be held back until Flush().
  // Errors: kResourceExhausted for a full disk; kUnavailable if writing
  // failed. No commit may follow an error.
  virtual absl::Status Write(std::string_view line) = 0;

  // Gives what was written to the system, and on kMachine to the disk. The
  // commit that follows records what is returned.
  // Unit: bytes of this output, those of earlier runs included.
  // Errors: as Write().
  virtual absl::StatusOr<std::uint64_t> Flush(Durability durability) = 0;
};

// What a part of an output holds before a job opens it.
struct OutputFound {
  // What messages call it.
  std::string name;
  std::uint64_t bytes = 0;
};

// Makes a writer for each shard.
// Threads: one.  Lifetime: outlives its writers.
class Sink {
 public:
  virtual ~Sink() = default;

  // Its path if it has one, so that a job can tell that it is its own input, or
  // that what it is to go on with is not there.
  virtual const std::string& name() const = 0;

  // Makes sure that this can be the output of so many shards, those included
  // that the job had when it last had more of them. Called once, before the job
  // touches anything.
  // Errors: kInvalidArgument, kNotFound, kPermissionDenied, and
  // kFailedPrecondition if something is in the way.
  virtual absl::Status Check(int shards) = 0;

  // What the output of `shard` holds, so that a job can refuse to cut away what
  // nothing accounts for, and to go on after what is not there. Changes
  // nothing. nullopt: it does not matter, since nothing can be cut there.
  // Errors: as Check().
  virtual absl::StatusOr<std::optional<OutputFound>> Look(
      [[maybe_unused]] int shard, [[maybe_unused]] int shards) {
    return std::nullopt;
  }

  // The output of `shard` as of its last commit: what was written after that
  // is taken back. Without `committed_bytes` the output starts anew, empty. It
  // is called, and nothing written, for shards that the job has no more, too.
  // Errors: kDataLoss if less is there than was committed; as Check().
  virtual absl::StatusOr<std::unique_ptr<SinkWriter>> OpenShard(
      int shard, int shards, std::optional<std::uint64_t> committed_bytes) = 0;
};

// Lines in a file if the job has one shard, and in a directory of part files,
// `part-00000` and so on, one a shard, if it has more. A job that keeps nothing
// replaces what is there; one with a state directory that starts anew refuses
// an output that is not empty. At the end of a job each line is there once,
// whatever crashes and restarts; while it runs, and after it has failed, lines
// past the last commit may be there, which the next run takes back. A file is
// of one job at a time.
//
// "-" is standard output, on which lines of several shards mix. Nothing can be
// taken back from there: after a crash lines may come again.
std::unique_ptr<Sink> MakeFileSink(std::string path);

}  // namespace mayfly
