#include "mayfly/runtime/internal/annotate.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly::runtime_internal {

absl::Status Annotate(const absl::Status& status, std::string_view where) {
  return absl::Status(status.code(),
                      absl::StrCat(ToAbsl(where), ": ", status.message()));
}

}  // namespace mayfly::runtime_internal
