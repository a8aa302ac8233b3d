#include "mayfly/runtime/job_options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly {
namespace {

constexpr std::size_t kNameBytesMax = 100;
constexpr int kShardsMax = 1000;
constexpr std::chrono::milliseconds kCommitIntervalMax = std::chrono::hours(24);

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::ranges::all_of(text, [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
         });
}

template <typename Value>
absl::Status OutOfRange(const char* field, const Value& value,
                        const char* range) {
  return absl::InvalidArgumentError(
      absl::StrCat("JobOptions.", field, " is ", value, "; give ", range));
}

absl::Status CheckCheckpoints(const JobOptions& options) {
  if (options.savepoint_on_stop && options.savepoint_directory.empty()) {
    return OutOfRange("savepoint_directory", "empty",
                      "a directory for the savepoint on stop");
  }
  if (options.checkpoints) {
    const CheckpointOptions& checkpoints = *options.checkpoints;
    if (checkpoints.directory.empty()) {
      return OutOfRange("checkpoints.directory", "empty", "a directory");
    }
    if (checkpoints.directory == options.savepoint_directory) {
      return OutOfRange("savepoint_directory",
                        absl::StrCat("'", options.savepoint_directory, "'"),
                        "another directory than checkpoints.directory");
    }
    if (checkpoints.interval &&
        *checkpoints.interval < std::chrono::milliseconds(1)) {
      return OutOfRange("checkpoints.interval",
                        absl::StrCat(checkpoints.interval->count(), " ms"),
                        "1 ms or more, or nullopt for none");
    }
    if (checkpoints.keep < 1) {
      return OutOfRange("checkpoints.keep", checkpoints.keep, "1 or more");
    }
  }
  if (options.state_directory.empty() &&
      (options.checkpoints || !options.savepoint_directory.empty() ||
       !options.restore_from.empty())) {
    return OutOfRange(
        "state_directory", "empty",
        "a directory, as checkpoints, savepoints and restores need one");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const JobOptions& options) {
  if (!IsName(options.name)) {
    return OutOfRange("name", absl::StrCat("'", options.name, "'"),
                      "1 to 100 letters, digits, '_', '-' and '.'");
  }
  if (options.shards < 1 || options.shards > kShardsMax) {
    return OutOfRange("shards", options.shards, "1 to 1000");
  }
  if (options.state_directory.empty() &&
      options.backend != BackendKind::kHeap) {
    return OutOfRange("state_directory", "empty",
                      "a directory, or use the heap backend to keep nothing");
  }
  if (options.commit_interval < std::chrono::milliseconds(1) ||
      options.commit_interval > kCommitIntervalMax) {
    return OutOfRange("commit_interval",
                      absl::StrCat(options.commit_interval.count(), " ms"),
                      "1 ms to 24 h");
  }
  if (options.commit_records_max < 1) {
    return OutOfRange("commit_records_max", options.commit_records_max,
                      "1 or more");
  }
  if (options.statistics_visits_max < 1) {
    return OutOfRange("statistics_visits_max", options.statistics_visits_max,
                      "1 or more");
  }
  MAYFLY_RETURN_IF_ERROR(CheckCheckpoints(options));
  if (options.disk_sweeps) {
    MAYFLY_RETURN_IF_ERROR(Validate(*options.disk_sweeps));
  }
  return Validate(options.rocksdb);
}

}  // namespace mayfly
