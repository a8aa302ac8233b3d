#include "mayfly/serde/internal/guarded_call.h"

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly {

absl::Status ThrownBy(std::string_view who, std::string_view what) {
  return absl::InternalError(
      absl::StrCat(ToAbsl(who), " threw: ", ToAbsl(what)));
}

}  // namespace mayfly
