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
#include "tests/model/system.h"

namespace mayfly::model_test {

class BackendSystem final : public System {
 public:
  explicit BackendSystem(const Settings& settings);

  Answer Run(const Operation& operation) override;

 private:
  // Opens the shard at its last commit, and looks at the clock.
  absl::Status Open();

  Answer Restart(const Operation& restart);
  Answer MoveClock(const Operation& move);
  Answer CleanUpAll();
  Answer CommitAndCount(const Operation& operation);

  // The TTL of now is in it.
  Settings settings_;
  const TempDirectory directory_;
  const std::shared_ptr<ManualClock> clock_;
  // What the machine's clock should say.
  std::int64_t right_ms_;
  // Null before the first operation, or if opening failed.
  std::unique_ptr<KeyedStateBackend<std::string>> backend_;
  std::optional<BackendStates> states_;
};

}  // namespace mayfly::model_test
