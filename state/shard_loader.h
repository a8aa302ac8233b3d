// Fills the directory of a shard with stored entries, without knowing their
// types.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {

// Threads: one.
class ShardLoader {
 public:
  // Begins to fill a directory, which is made and must be empty, with the
  // states of `record`; its backend is that of the options.
  // Errors: as the disk has it.
  static absl::StatusOr<std::unique_ptr<ShardLoader>> Create(
      const BackendOptions& options, const v1::ShardRecord& record);

  virtual ~ShardLoader() = default;

  // Adds an entry of the state that is `state`-th in the record; each key of it
  // once, in whichever order, best in that of the keys.
  // Errors: as the disk has it.
  virtual absl::Status Add(std::uint32_t state, std::string_view key,
                           std::string_view value) = 0;

  // Makes what was added the directory's first commit. Without it nothing has
  // been committed there.
  // Errors: as the disk has it.
  virtual absl::Status Finish(const v1::CommitRecord& commit) = 0;
};

// Create() for RocksDB.
absl::StatusOr<std::unique_ptr<ShardLoader>> MakeRocksdbLoader(
    const BackendOptions& options, v1::ShardRecord record);

}  // namespace mayfly::state_internal
