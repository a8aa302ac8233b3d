#include "mayfly/compaction/sweep_options.h"

#include "absl/strings/str_cat.h"

namespace mayfly {

absl::Status Validate(const SweepOptions& options) {
  if (!(options.expired_share > 0 && options.expired_share <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("SweepOptions: expired_share must be above 0 and at most "
                     "1, got ",
                     options.expired_share));
  }
  if (options.staleness_max < std::chrono::seconds(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("SweepOptions: staleness_max must be at least 1000 ms, "
                     "got ",
                     options.staleness_max.count(), " ms"));
  }
  if (options.bytes_max == 0) {
    return absl::InvalidArgumentError(
        "SweepOptions: bytes_max must be > 0, got 0");
  }
  return absl::OkStatus();
}

SweepReport& SweepReport::operator+=(const SweepReport& other) {
  files_dropped += other.files_dropped;
  bytes_dropped += other.bytes_dropped;
  compactions += other.compactions;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  flushes += other.flushes;
  steps_left += other.steps_left;
  return *this;
}

}  // namespace mayfly
