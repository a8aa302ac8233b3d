// Where an error happened, put before what it says.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace mayfly::runtime_internal {

// The same error with `where` and ": " before its message.
absl::Status Annotate(const absl::Status& status, std::string_view where);

}  // namespace mayfly::runtime_internal
