#include "mayfly/runtime/event_time.h"

#include "absl/strings/str_cat.h"

namespace mayfly {
namespace {

absl::Status CheckNotNegative(absl::string_view field,
                              std::chrono::milliseconds value) {
  if (value.count() >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("EventTimeOptions: ", field,
                                                 " must be >= 0 ms, got ",
                                                 value.count(), " ms"));
}

}  // namespace

absl::Status Validate(const EventTimeOptions& options) {
  constexpr std::chrono::milliseconds kNone{0};
  absl::Status status =
      CheckNotNegative("max_out_of_orderness", options.max_out_of_orderness);
  status.Update(CheckNotNegative("allowed_lateness",
                                 options.allowed_lateness.value_or(kNone)));
  status.Update(
      CheckNotNegative("max_ahead", options.max_ahead.value_or(kNone)));
  return status;
}

}  // namespace mayfly
