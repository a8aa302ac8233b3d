#include "runtime/job_restore.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/savepoint.h"
#include "runtime/checkpoint_manifest.h"

namespace mayfly::runtime_internal {
namespace {

namespace fs = std::filesystem;

bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// An older checkpoint may do better.
bool IsBroken(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) ||
         absl::IsUnavailable(status);
}

absl::Status NothingToRestore(const std::string& path, const char* why) {
  return absl::NotFoundError(absl::StrCat(
      "cannot restore from '", path, "': ", why,
      "; give a checkpoint, a savepoint or a directory of them, or nothing to "
      "restore from if the job is to start anew"));
}

// Totals of a job, for one shard to bear.
void SetTotals(const v1::CheckpointManifest& manifest,
               v1::ShardPosition& position) {
  std::uint64_t records = 0;
  std::uint64_t late_elements = 0;
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    records += shard.position().records();
    late_elements += shard.position().late_elements();
  }
  position.set_records(records);
  position.set_late_elements(late_elements);
}

// Where shards that were not there begin: at the same line as all others.
v1::ShardPosition InputOf(const v1::CheckpointManifest& manifest) {
  v1::ShardPosition position = manifest.shards(0).position();
  position.clear_records();
  position.clear_late_elements();
  position.clear_output_bytes();
  position.set_input_done(std::ranges::all_of(
      manifest.shards(), [](const v1::CheckpointShard& shard) {
        return shard.position().input_done();
      }));
  return position;
}

std::vector<std::uint64_t> PartsOf(const v1::CheckpointManifest& manifest) {
  std::vector<std::uint64_t> lengths;
  for (const v1::CheckpointShard& shard : manifest.shards()) {
    lengths.push_back(shard.position().output_bytes());
  }
  lengths.insert(lengths.end(), manifest.retired_output_bytes().begin(),
                 manifest.retired_output_bytes().end());
  return lengths;
}

}  // namespace

RestoredPositions PositionsFor(const v1::CheckpointManifest& manifest,
                               int shards, bool output_is_there) {
  const int shards_before = manifest.shards_size();
  const bool same_form = (shards == 1) == (shards_before == 1);
  RestoredPositions result;
  result.output_goes_on = output_is_there && same_form;
  std::vector<std::uint64_t> parts;
  if (result.output_goes_on) parts = PartsOf(manifest);
  for (int shard = 0; shard < shards; ++shard) {
    v1::ShardPosition& position = result.shards.emplace_back(
        shards == shards_before ? manifest.shards(shard).position()
                                : InputOf(manifest));
    const auto part = static_cast<std::size_t>(shard);
    position.set_output_bytes(part < parts.size() ? parts[part] : 0);
  }
  if (shards != shards_before) SetTotals(manifest, result.shards.front());
  const std::size_t kept =
      std::min(parts.size(), static_cast<std::size_t>(shards));
  result.retired_output_bytes.assign(
      parts.begin() + static_cast<std::ptrdiff_t>(kept), parts.end());
  return result;
}

JobRestore::JobRestore(const JobPlan& plan, RestoreMeter& meter,
                       std::string path, v1::CheckpointManifest manifest)
    : plan_(&plan),
      meter_(&meter),
      path_(std::move(path)),
      manifest_(std::move(manifest)),
      positions_(PositionsFor(manifest_, plan.options.shards,
                              IsThere(plan.sink->name()))) {}

absl::StatusOr<JobRestore> JobRestore::Find(const JobPlan& plan,
                                            RestoreMeter& meter) {
  const std::string& path = plan.options.restore_from;
  if (IsThere(fs::path(path) / kManifestFile)) return Load(plan, meter, path);
  if (!IsThere(path)) return NothingToRestore(path, "it is not there");
  MAYFLY_ASSIGN_OR_RETURN(const auto stored, ListCheckpoints(path));
  absl::Status newest;
  for (const StoredCheckpoint& checkpoint : stored) {
    absl::StatusOr<JobRestore> restore = Load(plan, meter, checkpoint.path);
    if (restore.ok() || !IsBroken(restore.status())) return restore;
    newest.Update(restore.status());
    plan.log(absl::StrCat("job '", plan.options.name, "': ", checkpoint.path,
                          " is BROKEN and passed over for the one before it: ",
                          restore.status().message()));
  }
  if (newest.ok()) {
    return NothingToRestore(path, "it holds no checkpoint and no savepoint");
  }
  return Annotate(newest, absl::StrCat("nothing in '", path,
                                       "' can be restored; the newest"));
}

absl::StatusOr<JobRestore> JobRestore::Load(const JobPlan& plan,
                                            RestoreMeter& meter,
                                            const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(v1::CheckpointManifest manifest, ReadManifest(path));
  if (manifest.job() != plan.options.name) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path, "' is of the job '", manifest.job(),
                     "', not of '", plan.options.name, "'"));
  }
  meter.Begin(path, RestoreStep::kChecking, BytesOf(manifest));
  MAYFLY_RETURN_IF_ERROR(VerifyFiles(
      path, manifest, [&](std::uint64_t bytes) { return meter.Add(bytes); }));
  return JobRestore(plan, meter, path, std::move(manifest));
}

absl::Status JobRestore::FillShards(const BackendOptions& backend,
                                    const JobDirectory& directory) const {
  const v1::ShardPosition& first = positions_.shards.front();
  plan_->log(absl::StrCat(
      "job '", plan_->options.name, "' is restored from ", path_,
      ", and goes on after line ", first.input_lines(), " of ",
      plan_->source->name(),
      BeginsOutputAnew() ? absl::StrCat("; its output ", plan_->sink->name(),
                                        " begins EMPTY there")
                         : ""));
  const bool copy = MayCopy();
  meter_->Begin(path_, copy ? RestoreStep::kCopying : RestoreStep::kLoading,
                copy ? BytesOf(manifest_) : 0);
  ShardTransfers transfers(plan_->options.shards, *meter_);
  return transfers.Run([&](int shard) {
    BackendOptions target = backend;
    target.directory = directory.ShardDirectory(shard);
    return copy ? CopyShard(shard, target.directory, transfers)
                : LoadShard(shard, target, transfers);
  });
}

bool JobRestore::BeginsOutputAnew() const {
  return !positions_.output_goes_on &&
         std::ranges::any_of(PartsOf(manifest_),
                             [](std::uint64_t bytes) { return bytes > 0; });
}

// As long as all is as it was, down to the lengths of the output.
bool JobRestore::MayCopy() const {
  if (manifest_.kind() != v1::CHECKPOINT_KIND_CHECKPOINT ||
      manifest_.backend() != RecordedKind(plan_->options.backend) ||
      manifest_.shards_size() != plan_->options.shards) {
    return false;
  }
  for (int i = 0; i < manifest_.shards_size(); ++i) {
    if (positions_.shards[static_cast<std::size_t>(i)].output_bytes() !=
        manifest_.shards(i).position().output_bytes()) {
      return false;
    }
  }
  return true;
}

// Table files never change and may be shared with the checkpoint; a backend
// writes to all others.
absl::Status JobRestore::CopyShard(int shard, const std::string& directory,
                                   ShardTransfers& transfers) const {
  const bool sync = plan_->options.durability == Durability::kMachine;
  const std::uint64_t total = BytesOf(manifest_.shards(shard));
  std::uint64_t done = 0;
  for (const v1::CheckpointedFile& file : manifest_.shards(shard).files()) {
    if (transfers.stop()) return absl::CancelledError("asked to stop");
    const fs::path path(file.path());
    const fs::path inside = path.lexically_relative(*path.begin());
    const std::string from = (fs::path(path_) / path).string();
    const std::string to = (fs::path(directory) / inside).string();
    MAYFLY_RETURN_IF_ERROR(
        state_internal::MakeDirectory(fs::path(to).parent_path().string()));
    bool linked = false;
    if (absl::EndsWith(file.path(), ".sst")) {
      MAYFLY_ASSIGN_OR_RETURN(linked, state_internal::LinkFile(from, to));
    }
    if (!linked) {
      MAYFLY_ASSIGN_OR_RETURN(const state_internal::FileDigest copied,
                              state_internal::CopyFile(from, to, sync));
      if (copied.crc32c != file.crc32c()) {
        return absl::DataLossError(
            absl::StrCat("'", from, "' has changed while it was copied"));
      }
    }
    done += file.bytes();
    transfers.Report(shard, done, total);
  }
  return sync ? state_internal::SyncTree(directory) : absl::OkStatus();
}

absl::Status JobRestore::LoadShard(int shard, const BackendOptions& target,
                                   ShardTransfers& transfers) const {
  const RestorePlan plan{
      .sources = SourcesOf(shard),
      .shard = shard,
      .shards = plan_->options.shards,
      .position = positions_.shards[static_cast<std::size_t>(shard)]
                      .SerializeAsString(),
      .processing_clock = plan_->options.processing_clock};
  const TransferOptions options{
      .on_progress =
          [&](const TransferProgress& progress) {
            transfers.Report(shard, progress.keys_done, progress.keys_total);
          },
      .stop = &transfers.stop(),
      .durability = plan_->options.durability};
  return RestoreShard(plan, target, options).status();
}

// The shards that may hold keys of this one. A key's shard is its hash modulo
// their number, so it is the same modulo what both numbers are multiples of.
std::vector<std::string> JobRestore::SourcesOf(int shard) const {
  const int shards_before = manifest_.shards_size();
  const int step = std::gcd(shards_before, plan_->options.shards);
  std::vector<std::string> sources;
  for (int i = shard % step; i < shards_before; i += step) {
    const fs::path file(manifest_.shards(i).files(0).path());
    sources.push_back((fs::path(path_) / *file.begin()).string());
  }
  return sources;
}

}  // namespace mayfly::runtime_internal
