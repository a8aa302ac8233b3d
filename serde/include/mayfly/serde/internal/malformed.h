// What deserializers say about bytes they cannot read. Out of line, so that the
// good path stays small.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace mayfly::serde_internal {

// kDataLoss with a reason that names no user data.
absl::Status Malformed(std::string_view reason);

// kDataLoss: a value of `type` takes `want` bytes, and `got` are there.
absl::Status WrongSize(std::string_view type, std::size_t want,
                       std::size_t got);

// kDataLoss: the bytes end before the value does.
absl::Status CutOff();

// kDataLoss: `extra` bytes follow where the value should end.
absl::Status TrailingBytes(std::size_t extra);

// The same error, its message led by `part` and its position: "field 2: ...".
absl::Status InPart(std::string_view part, std::size_t position,
                    const absl::Status& status);

}  // namespace mayfly::serde_internal
