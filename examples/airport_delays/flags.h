// What the command line says.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/runtime/parse_duration.h"
#include "mayfly/state/ttl_config.h"

namespace airport_delays {

struct Flags {
  std::string input;
  std::string output;
  mayfly::FlagDuration ttl{0};
  mayfly::TimeCharacteristic time{};
  mayfly::UpdateType update{};
  mayfly::StateVisibility visibility{};
  mayfly::JobOptions job;
  std::chrono::milliseconds progress_interval{0};
};

// Whether --help is among the arguments.
bool AsksForHelp(int argc, char** argv);

// What --help prints: each flag with its default.
std::string HelpText();

// Reads `--name=value` and `--name value`.
// Errors: kInvalidArgument naming the flag, the value and what would do.
absl::StatusOr<Flags> ParseFlags(int argc, char** argv);

}  // namespace airport_delays
