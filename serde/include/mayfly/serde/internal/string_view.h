// The bridge between std::string_view and absl::string_view. They are one type
// on newer Abseil and two unrelated ones on Debian 12, where nothing converts.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace mayfly {

// Lifetime: the result points where `text` points.
inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// Lifetime: the result points where `text` points.
inline std::string_view ToStd(absl::string_view text) {
  return std::string_view(text.data(), text.size());
}

}  // namespace mayfly
