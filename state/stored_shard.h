// A shard at rest, in whichever form it is stored: read without knowing its
// types, and without changing anything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {

// Threads: one at a time.
class StoredShard {
 public:
  // Takes an entry in its stored form; an error ends the visit.
  using Visitor =
      std::function<absl::Status(std::string_view key, std::string_view value)>;

  // Opens the file of a savepoint, or the directory of a shard: a checkpoint,
  // or what a process that is gone has left. Nobody may write to it meanwhile.
  // Errors: kNotFound if there is nothing; kInvalidArgument if it is a file,
  // and of something else; kDataLoss if it is damaged, or was committed to and
  // has no commit; kFailedPrecondition if a newer version wrote it, or nothing
  // was ever committed; as the disk has it.
  static absl::StatusOr<std::unique_ptr<StoredShard>> Open(
      const std::string& path);

  StoredShard(const StoredShard&) = delete;
  StoredShard& operator=(const StoredShard&) = delete;
  virtual ~StoredShard() = default;

  const std::string& path() const { return path_; }
  // The states that are committed.
  const v1::ShardRecord& record() const { return record_; }
  const v1::CommitRecord& commit() const { return commit_; }

  // Keys of the state that is `state`-th in the record; an estimate for a
  // database.
  virtual std::uint64_t Keys(std::uint32_t state) const = 0;
  virtual bool keys_are_exact() const = 0;

  // Visits the entries of a state.
  // Errors: of the visitor; kDataLoss and kUnavailable if reading fails.
  virtual absl::Status Visit(std::uint32_t state,
                             const Visitor& visit) const = 0;

  // Reads everything there is and checks it.
  // Errors: kDataLoss naming what is damaged.
  virtual absl::Status Verify() const = 0;

 protected:
  explicit StoredShard(std::string path) : path_(std::move(path)) {}

  v1::ShardRecord record_;
  v1::CommitRecord commit_;

 private:
  const std::string path_;
};

// The parts of Open(): of a snapshot file that is `file`, of the shard that is
// `path`; and of a database.
absl::StatusOr<std::unique_ptr<StoredShard>> OpenStoredSnapshot(
    const std::string& path, const std::string& file);
absl::StatusOr<std::unique_ptr<StoredShard>> OpenStoredDatabase(
    const std::string& path);

}  // namespace mayfly::state_internal
