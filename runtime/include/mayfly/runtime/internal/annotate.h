// Where an error happened, put before what it says.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mayfly::runtime_internal {

// The same error with `where` and ": " before its message.
absl::Status Annotate(const absl::Status& status, std::string_view where);

// "0x445457" for the key DTW; of a long key only the start.
std::string KeyHexPrefix(std::string_view key_bytes);

}  // namespace mayfly::runtime_internal
