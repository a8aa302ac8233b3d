// All shards of a job: each key lives in one of them, and all can be saved and
// restored together, also on the other backend and in other numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/savepoint.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {

// What a job's state lies in.
struct Placement {
  BackendSetup setup;
  int shards = 1;
};

enum class SaveForm { kCheckpoint, kSavepoint };

// What was saved of all shards, as of their last commit.
struct SavedShards {
  SaveForm form = SaveForm::kCheckpoint;
  Placement from;
  std::string position;
  // Directories, or files.
  std::vector<std::string> paths;
};

template <typename K>
class ShardSet {
 public:
  using Backend = KeyedStateBackend<K>;

  // Not open yet.
  ShardSet(const Placement& placement, TimestampMs now_ms)
      : placement_(placement), clock_(std::make_shared<ManualClock>(now_ms)) {}

  // All shards have the same.
  ManualClock& clock() { return *clock_; }

  const Placement& placement() const { return placement_; }
  std::size_t size() const {
    return static_cast<std::size_t>(placement_.shards);
  }
  Backend& operator[](std::size_t shard) { return *backends_.at(shard); }
  std::string Directory(std::size_t shard) const {
    return directory_.Path(std::to_string(generation_) + "-" +
                           std::to_string(shard));
  }

  std::size_t ShardOf(const K& key) const {
    std::string bytes;
    Serializer<K>::Serialize(key, bytes);
    return static_cast<std::size_t>(PartitionForKey(bytes, placement_.shards));
  }

  bool is_open() const { return !backends_.empty(); }

  // Opens all shards at their last commit. What was not committed is forgotten,
  // just as if the processes had died.
  absl::Status Open() {
    Close();
    for (std::size_t i = 0; i < size(); ++i) {
      BackendOptions options = OptionsOf(placement_, i);
      options.processing_clock = clock_;
      MAYFLY_ASSIGN_OR_RETURN(auto backend, Backend::Open(options));
      backends_.push_back(std::move(backend));
    }
    return absl::OkStatus();
  }
  void Close() { backends_.clear(); }

  absl::Status Commit(std::string_view position = {}) {
    for (const auto& backend : backends_) {
      MAYFLY_RETURN_IF_ERROR(backend->Commit(position));
    }
    return absl::OkStatus();
  }

  // How many entries of a state the shards hold physically, live and expired.
  StateStatistics Counts(const std::string& state) {
    StateStatistics all{.state = state};
    for (const auto& backend : backends_) {
      const std::vector<StateStatistics> here = backend->Statistics().value();
      const auto of_state =
          std::ranges::find(here, state, &StateStatistics::state);
      if (of_state == here.end()) {
        throw std::runtime_error("no state '" + state + "' is registered");
      }
      all.live_entries += of_state->live_entries;
      all.expired_entries += of_state->expired_entries;
    }
    return all;
  }

  // Saves what open shards have committed; they go on unharmed.
  absl::StatusOr<SavedShards> Save(SaveForm form) {
    SavedShards saved{.form = form,
                      .from = placement_,
                      .position = backends_.front()->committed_position(),
                      .paths = {}};
    const std::string name = directory_.Path("saved-" + std::to_string(saves_));
    ++saves_;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::string checkpoint = name + "-" + std::to_string(i);
      MAYFLY_RETURN_IF_ERROR(backends_[i]->Checkpoint(checkpoint).status());
      saved.paths.push_back(checkpoint);
      if (form == SaveForm::kCheckpoint) continue;
      saved.paths.back() += ".savepoint";
      MAYFLY_RETURN_IF_ERROR(
          WriteSavepoint(checkpoint, saved.paths.back()).status());
      std::filesystem::remove_all(checkpoint);
    }
    return saved;
  }

  // Gives up all shards for copies of those of a checkpoint, not open yet.
  absl::Status CopyFrom(const SavedShards& checkpoint) {
    BeginAnew(checkpoint.from);
    for (std::size_t i = 0; i < size(); ++i) {
      std::error_code error;
      std::filesystem::copy(checkpoint.paths[i], Directory(i),
                            std::filesystem::copy_options::recursive, error);
      if (error) return absl::InternalError("copy: " + error.message());
    }
    return absl::OkStatus();
  }

  // Gives up all shards for others, into which the saved ones are restored, not
  // open yet.
  absl::Status RestoreFrom(const SavedShards& saved, const Placement& to) {
    BeginAnew(to);
    for (std::size_t i = 0; i < size(); ++i) {
      const RestorePlan plan{.sources = saved.paths,
                             .shard = static_cast<int>(i),
                             .shards = to.shards,
                             .position = saved.position,
                             .processing_clock = clock_};
      MAYFLY_RETURN_IF_ERROR(RestoreShard(plan, OptionsOf(to, i)).status());
    }
    return absl::OkStatus();
  }

 private:
  BackendOptions OptionsOf(const Placement& placement,
                           std::size_t shard) const {
    BackendOptions options;
    options.kind = placement.setup.kind;
    options.table_bytes_max = placement.setup.table_bytes_max;
    options.directory = Directory(shard);
    // RocksDB reserves as much for its log, which takes long in memory.
    options.rocksdb.all_states.write_buffer_bytes = std::size_t{256} << 10;
    return options;
  }

  void BeginAnew(const Placement& placement) {
    Close();
    for (std::size_t i = 0; i < size(); ++i) {
      std::filesystem::remove_all(Directory(i));
    }
    ++generation_;
    placement_ = placement;
  }

  Placement placement_;
  const std::shared_ptr<ManualClock> clock_;
  const TempDirectory directory_;
  // Other shards have other directories.
  int generation_ = 0;
  int saves_ = 0;
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace mayfly::state_test
