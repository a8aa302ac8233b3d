#include "mayfly/serde/internal/malformed.h"

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly::serde_internal {

absl::Status Malformed(std::string_view reason) {
  return absl::DataLossError(ToAbsl(reason));
}

absl::Status WrongSize(std::string_view type, std::size_t want,
                       std::size_t got) {
  return absl::DataLossError(absl::StrCat(ToAbsl(type), " takes ", want,
                                          " bytes, ", got, " are there"));
}

absl::Status CutOff() {
  return Malformed("cut off, or its length is malformed");
}

absl::Status TrailingBytes(std::size_t extra) {
  return absl::DataLossError(
      absl::StrCat(extra, " bytes follow the end of the value"));
}

absl::Status InPart(std::string_view part, std::size_t position,
                    const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(ToAbsl(part), " ", position,
                                                  ": ", status.message()));
}

}  // namespace mayfly::serde_internal
