#include "mayfly/runtime/parse_duration.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly {

absl::StatusOr<FlagDuration> ParseDuration(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "infinite") return FlagDuration(kInfinity);
  absl::Duration parsed;
  if (!absl::ParseDuration(ToAbsl(text), &parsed)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", ToAbsl(text),
        "' is not a duration: give numbers with units, as in 3h, 1h30m, 500ms, "
        "or infinite"));
  }
  if (parsed == absl::InfiniteDuration()) return FlagDuration(kInfinity);
  if (parsed == -absl::InfiniteDuration()) return FlagDuration(-kInfinity);
  // Whole milliseconds apart, so that they stay whole.
  const std::int64_t whole_ms = absl::ToInt64Milliseconds(parsed);
  const absl::Duration rest = parsed - absl::Milliseconds(whole_ms);
  return FlagDuration(static_cast<double>(whole_ms) +
                      absl::ToDoubleMilliseconds(rest));
}

}  // namespace mayfly
