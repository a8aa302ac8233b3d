#include "state/rocksdb_status.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly::state_internal {

absl::Status FromRocksdb(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = absl::StrCat(ToAbsl(what), ": ", status.ToString());
  if (status.IsCorruption()) {
    return absl::DataLossError(
        absl::StrCat(text, "; restore an earlier copy of the directory"));
  }
  if (status.IsNoSpace() || status.IsMemoryLimit()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(text, "; free some space and start again"));
  }
  if (status.IsBusy() || status.IsTryAgain() || status.IsAborted()) {
    return absl::AbortedError(text);
  }
  if (status.IsTimedOut()) return absl::DeadlineExceededError(text);
  if (status.IsShutdownInProgress()) return absl::CancelledError(text);
  if (status.IsInvalidArgument()) return absl::InvalidArgumentError(text);
  if (status.IsNotSupported()) return absl::FailedPreconditionError(text);
  return absl::UnavailableError(text);
}

}  // namespace mayfly::state_internal
