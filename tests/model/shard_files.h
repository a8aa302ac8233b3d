// The table files of a shard while no backend has it open: compacted, swept and
// moved between levels, as may happen to them whenever a shard is open, but at
// moments and to files that a program says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/compaction/file_expiry.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/v1/state.pb.h"
#include "rocksdb/db.h"

namespace mayfly::model_test {

// By what rule files are compacted and dropped: the right one, and those of the
// canaries, which are wrong.
enum class FileRule {
  kRight,
  // Entries are removed a millisecond before they expire.
  kRemoveEarly,
  // What has expired whole is dropped from its level, whatever lies deeper.
  kDropOverOlder,
  // The same, from level 0, where other files hold older versions.
  kDropFromLevelZero,
};

// What was done to the files of shards, in figures.
struct FileWork {
  std::uint64_t flushes = 0;
  // Of files that a program chose.
  std::uint64_t compactions = 0;
  // Of files that a sweep chose.
  std::uint64_t sweep_compactions = 0;
  std::uint64_t files_dropped = 0;
};

// What has expired is what had at the last commit, by the rules of TTL that the
// shard's directory records: as if the shard were open and no state registered.
class ShardFiles {
 public:
  // Lifetime: `work` outlives this.
  ShardFiles(const std::string& directory, FileRule rule, FileWork* work);
  ~ShardFiles();
  ShardFiles(const ShardFiles&) = delete;
  ShardFiles& operator=(const ShardFiles&) = delete;

  // What was in memory is in level 0 afterwards.
  absl::Status Open();

  // Compacts, so many times, some files of some state into some level.
  absl::Status CompactSome(int times, std::uint64_t seed);

  // Drops files that have expired whole and compacts others, by the rule.
  absl::Status Sweep();

 private:
  struct State {
    // Null without TTL.
    std::shared_ptr<ColumnFamilyTtl> ttl;
    rocksdb::ColumnFamilyHandle* handle = nullptr;
  };

  absl::StatusOr<v1::CommitRecord> ReadCommit();
  absl::Status CompactSomeOf(State& state, std::mt19937_64& random);
  absl::Status SweepRightly(State& state);
  absl::Status DropWrongly(State& state);
  absl::Status Drop(State& state, const FileExpiry& file, int output_level);

  const std::string directory_;
  const FileRule rule_;
  FileWork* const work_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_handle_ = nullptr;
  std::vector<State> states_;
};

}  // namespace mayfly::model_test
