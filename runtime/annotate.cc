#include "mayfly/runtime/internal/annotate.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly::runtime_internal {

absl::Status Annotate(const absl::Status& status, std::string_view where) {
  return absl::Status(status.code(),
                      absl::StrCat(ToAbsl(where), ": ", status.message()));
}

std::string KeyHexPrefix(std::string_view key_bytes) {
  constexpr std::size_t kBytesShown = 8;
  return absl::StrCat(
      "0x", absl::BytesToHexString(ToAbsl(key_bytes.substr(0, kBytesShown))),
      key_bytes.size() > kBytesShown ? "..." : "");
}

}  // namespace mayfly::runtime_internal
