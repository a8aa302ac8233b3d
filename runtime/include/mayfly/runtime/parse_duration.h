// Durations as people write them in flags.
#pragma once

#include <chrono>
#include <ratio>
#include <string_view>

#include "absl/status/statusor.h"

namespace mayfly {

// Milliseconds that may have a fraction or be infinite, so that what takes
// them, StateTtlConfig::NewBuilder say, speaks for itself on what is too fine,
// too small or too large.
using FlagDuration = std::chrono::duration<double, std::milli>;

// "3h", "1h30m", "1.5s", "500ms", "1us"; "infinite". The sign and the size are
// for the caller to judge.
// Errors: kInvalidArgument naming what was given and what a duration looks
// like.
absl::StatusOr<FlagDuration> ParseDuration(std::string_view text);

}  // namespace mayfly
