#include "mayfly/runtime/job_report.h"

#include "absl/strings/str_cat.h"

namespace mayfly {

std::string MalformedLine::ToString() const {
  return absl::StrCat(file, ":", line, ": ", reason);
}

}  // namespace mayfly
