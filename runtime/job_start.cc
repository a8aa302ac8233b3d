#include "runtime/job_start.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "runtime/checkpoint_manifest.h"
#include "runtime/lineage.h"

namespace mayfly::runtime_internal {
namespace {

namespace fs = std::filesystem;

// In one spelling for all, whether it is there or not, and ending with a slash.
fs::path Spelled(const std::string& directory) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(directory, ignored), ignored) / "";
}

// They are to outlive the state directory, and in it they would be taken for
// what the job has left there.
absl::Status CheckIsOutside(const JobOptions& options,
                            const std::string& directory, const char* what) {
  if (directory.empty() || options.state_directory.empty()) {
    return absl::OkStatus();
  }
  const std::string state = Spelled(options.state_directory).string();
  if (!Spelled(directory).string().starts_with(state)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("directory of ", what, " '", directory,
                   "' lies in the state directory '", options.state_directory,
                   "', and would be lost with it; give one outside"));
}

absl::Status CheckDirectories(const JobOptions& options) {
  if (options.checkpoints) {
    MAYFLY_RETURN_IF_ERROR(
        CheckIsOutside(options, options.checkpoints->directory, "checkpoints"));
  }
  return CheckIsOutside(options, options.savepoint_directory, "savepoints");
}

// An operator may have the job restored from its own checkpoints in each start,
// the first one included, when there is none yet.
absl::StatusOr<bool> HasNoneOfItsOwnYet(const JobOptions& options) {
  if (!options.checkpoints || Spelled(options.restore_from) !=
                                  Spelled(options.checkpoints->directory)) {
    return false;
  }
  const auto stored = ListCheckpoints(options.restore_from);
  if (absl::IsNotFound(stored.status())) return true;
  MAYFLY_RETURN_IF_ERROR(stored.status());
  return stored->empty();
}

absl::StatusOr<std::optional<JobRestore>> FindRestore(const JobPlan& plan,
                                                      RestoreMeter& meter) {
  const JobOptions& options = plan.options;
  if (options.restore_from.empty()) return std::nullopt;
  MAYFLY_ASSIGN_OR_RETURN(const bool none_yet, HasNoneOfItsOwnYet(options));
  if (!none_yet) return JobRestore::Find(plan, meter);
  plan.log(absl::StrCat("job '", options.name, "' has no checkpoint in '",
                        options.restore_from,
                        "' to be restored from yet, and starts anew"));
  return std::nullopt;
}

// Why an output must be empty, and the ways out.
std::string NothingAccountsForIt(const JobPlan& plan, const JobStart& start) {
  if (start.restore) {
    return absl::StrCat(
        "that are not those of '", start.restore->path(),
        "', since one shard writes a file and several write a directory; move "
        "them away, or give another output");
  }
  return absl::StrCat(
      "that the job would replace, as state directory '",
      plan.options.state_directory,
      "' holds no job; is this the right state directory? If it was lost, give "
      "restore_from a checkpoint or a savepoint; to start anew, move the "
      "output away");
}

absl::Status CheckIsEmpty(const JobPlan& plan, const JobStart& start) {
  const int shards = plan.options.shards;
  for (int part = 0; part < shards; ++part) {
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<OutputFound> found,
                            plan.sink->Look(part, shards));
    if (!found || found->bytes == 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("output '", found->name, "' has ", found->bytes, " bytes ",
                     NothingAccountsForIt(plan, start)));
  }
  return absl::OkStatus();
}

// Parts without a shard included.
absl::Status CheckHas(const JobPlan& plan, const JobRestore& restore) {
  std::vector<std::uint64_t> lengths;
  for (const v1::ShardPosition& shard : restore.positions().shards) {
    lengths.push_back(shard.output_bytes());
  }
  const std::vector<std::uint64_t>& retired =
      restore.positions().retired_output_bytes;
  lengths.insert(lengths.end(), retired.begin(), retired.end());
  const int parts = static_cast<int>(lengths.size());
  for (int part = 0; part < parts; ++part) {
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<OutputFound> found,
                            plan.sink->Look(part, parts));
    const std::uint64_t length = lengths[static_cast<std::size_t>(part)];
    if (!found || found->bytes >= length) continue;
    return absl::DataLossError(absl::StrCat(
        "output '", found->name, "' has ", found->bytes, " bytes, and ", length,
        " were written when '", restore.path(),
        "' was: it was cut, or is another one; put it back, or move all of '",
        plan.sink->name(), "' away to have the job begin an empty one"));
  }
  return absl::OkStatus();
}

absl::Status CheckOutput(const JobPlan& plan, const JobStart& start) {
  if (start.restore && start.restore->positions().output_goes_on) {
    return CheckHas(plan, *start.restore);
  }
  // What keeps nothing starts anew each time.
  return plan.options.state_directory.empty() ? absl::OkStatus()
                                              : CheckIsEmpty(plan, start);
}

}  // namespace

absl::StatusOr<JobStart> FindStart(const JobPlan& plan, const TtlClock& clock,
                                   RestoreMeter& meter) {
  const JobOptions& options = plan.options;
  MAYFLY_RETURN_IF_ERROR(CheckDirectories(options));
  MAYFLY_ASSIGN_OR_RETURN(const std::optional<v1::JobRecord> record,
                          JobDirectory::Look(options));
  JobStart start;
  if (record) {
    MAYFLY_RETURN_IF_ERROR(JobDirectory::CheckShards(options));
    start.lineage = record->lineage();
    MAYFLY_RETURN_IF_ERROR(
        plan.sink->Check(options.shards + record->retired_output_bytes_size()));
    if (!options.restore_from.empty()) {
      plan.log(absl::StrCat(
          "job '", options.name, "' goes on with '", options.state_directory,
          "' and passes by what it was to be restored from, '",
          options.restore_from, "'"));
    }
    return start;
  }
  MAYFLY_ASSIGN_OR_RETURN(start.restore, FindRestore(plan, meter));
  start.beginning.emplace();
  if (start.restore) {
    start.lineage = start.restore->lineage();
    start.beginning->restoring_from = options.restore_from;
    start.beginning->retired_output_bytes =
        start.restore->positions().retired_output_bytes;
  } else {
    start.lineage = NewLineage(clock);
  }
  start.beginning->lineage = start.lineage;
  const std::size_t retired = start.beginning->retired_output_bytes.size();
  MAYFLY_RETURN_IF_ERROR(
      plan.sink->Check(options.shards + static_cast<int>(retired)));
  MAYFLY_RETURN_IF_ERROR(CheckOutput(plan, start));
  return start;
}

}  // namespace mayfly::runtime_internal
