// The library as a system: a shard with one state of each kind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/model/backend_states.h"
#include "tests/model/shard_files.h"
#include "tests/model/system.h"

namespace mayfly::model_test {

// What happened to shards that a plain look at answers does not tell.
struct Happenings {
  FileWork files;
  std::uint64_t ttl_changes = 0;
  std::uint64_t cleanup_changes = 0;
};

class BackendSystem final : public System {
 public:
  // Adds what happens to `happenings`, which outlives this. The rule is for
  // kRewriteFiles.
  BackendSystem(const Settings& settings, Happenings* happenings,
                FileRule file_rule = FileRule::kRight);

  Answer Run(const Operation& operation) override;

 private:
  // Closes the shard if it is open.
  void Close();
  // Opens the shard at its last commit, and looks at the clock.
  absl::Status Open();

  Answer Restart(const Operation& restart);
  absl::Status RewriteFiles(const Operation& rewrite);
  Answer Sweep(const Operation& sweep);
  Answer MoveClock(const Operation& move);
  Answer CleanUpAll();
  Answer CommitAndCount(const Operation& operation);

  // The TTL and the clean-up of now are in it.
  Settings settings_;
  Happenings* const happenings_;
  const FileRule file_rule_;
  const TempDirectory directory_;
  const std::shared_ptr<ManualClock> clock_;
  // What the machine's clock should say.
  std::int64_t right_ms_;
  // Null before the first operation, or if opening failed.
  std::unique_ptr<KeyedStateBackend<std::string>> backend_;
  std::optional<BackendStates> states_;
};

}  // namespace mayfly::model_test
