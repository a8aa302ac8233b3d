#include "mayfly/runtime/job_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mayfly {

std::string MalformedLine::ToString() const {
  return absl::StrCat(file, ":", line, ": ", reason);
}

std::string RestoreProgress::ToString() const {
  const bool keys = step == RestoreStep::kLoading;
  const char* const unit = keys ? "keys" : "MB";
  const double in_units = keys ? 1 : 1e-6;
  return absl::StrFormat(
      "%s %s: %.0f of %s%.0f %s, %.0f a second, %.0f s left",
      step == RestoreStep::kChecking  ? "checking"
      : step == RestoreStep::kCopying ? "copying"
                                      : "loading",
      source, in_units * static_cast<double>(done), keys ? "about " : "",
      in_units * static_cast<double>(total), unit, in_units * per_second,
      std::chrono::duration<double>(left).count());
}

}  // namespace mayfly
