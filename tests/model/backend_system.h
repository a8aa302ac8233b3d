// The library as a system: shards with one state of each kind.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/model/backend_states.h"
#include "tests/model/shard_files.h"
#include "tests/model/system.h"
#include "tests/unit/state/shard_set.h"

namespace mayfly::model_test {

// What happened to shards that a plain look at answers does not tell.
struct Happenings {
  FileWork files;
  std::uint64_t ttl_changes = 0;
  std::uint64_t ttl_switches = 0;
  std::uint64_t cleanup_changes = 0;
  // Commits that a crash, or another restart, ended half-way.
  std::uint64_t half_commits = 0;
  // Of checkpoints opened as they are; and what else was restored from.
  std::uint64_t checkpoints_opened = 0;
  std::uint64_t checkpoints_moved = 0;
  std::uint64_t savepoints_restored = 0;
  std::uint64_t backend_changes = 0;
  std::uint64_t shard_changes = 0;
};

class BackendSystem final : public System {
 public:
  // Adds what happens to `happenings`, which outlives this. The rule is for
  // kRewriteFiles.
  BackendSystem(const Settings& settings, Happenings* happenings,
                FileRule file_rule = FileRule::kRight);

  Answer Run(const Operation& operation) override;

 private:
  using Shards = state_test::ShardSet<std::string>;

  void Close();
  // Opens the shards at their last commit, and has them look at the clock.
  absl::Status Open();

  Answer RunOnContents(const Operation& operation);
  Answer Restart(const Operation& restart);
  absl::Status GoBackTo(const Operation& restart);
  absl::Status RewriteFiles(const Operation& rewrite);
  Answer Save(const Operation& save);
  Answer Sweep(const Operation& sweep);
  Answer MoveClock(const Operation& move);
  Answer Look();
  Answer CleanUpAll();
  Answer CommitAndCount(const Operation& operation);

  // Has all shards do something; the first error.
  template <typename Do>
  Answer OnAll(const Do& action);

  // The TTL and the clean-up of now are in it.
  Settings settings_;
  Happenings* const happenings_;
  const FileRule file_rule_;
  // Not open before the first operation, or if opening failed.
  Shards shards_;
  // What the machine's clock should say.
  std::int64_t right_ms_;
  // Of each shard.
  std::vector<BackendStates> states_;
  std::array<std::optional<state_test::SavedShards>, kPlaces> saved_;
};

}  // namespace mayfly::model_test
