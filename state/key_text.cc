#include "mayfly/state/internal/key_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly::state_internal {

std::string KeyText(std::string_view key_bytes) {
  constexpr std::size_t kShownBytes = 32;
  return absl::StrCat(
      "0x", absl::BytesToHexString(ToAbsl(key_bytes.substr(0, kShownBytes))),
      key_bytes.size() > kShownBytes ? "..." : "");
}

}  // namespace mayfly::state_internal
