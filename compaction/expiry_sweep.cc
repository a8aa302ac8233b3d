#include "mayfly/compaction/expiry_sweep.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compaction/drop_filter.h"
#include "mayfly/serde/status_macros.h"
#include "rocksdb/metadata.h"

namespace mayfly {
namespace {

using compaction_internal::DropScope;
using compaction_internal::DropTarget;

absl::Status Failed(const ColumnFamilyTtl& ttl, absl::string_view what,
                    const rocksdb::Status& status) {
  const std::string message =
      absl::StrCat("state '", ttl.name(), "': ", what, ": ", status.ToString());
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(message, "; free some space"));
  }
  if (status.IsCorruption()) {
    return absl::DataLossError(
        absl::StrCat(message, "; restore an earlier copy of the directory"));
  }
  return absl::UnavailableError(message);
}

bool AreThere(const std::vector<std::string>& names, rocksdb::DB& db,
              rocksdb::ColumnFamilyHandle* column_family) {
  rocksdb::ColumnFamilyMetaData metadata;
  db.GetColumnFamilyMetaData(column_family, &metadata);
  std::set<std::string> there;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      there.insert(file.name);
    }
  }
  return std::ranges::all_of(
      names, [&](const std::string& name) { return there.contains(name); });
}

// Another compaction has one of the files, or has already taken it away.
// RocksDB calls a name of no file an invalid argument, as it calls other
// things.
bool IsTaken(const rocksdb::Status& status,
             const std::vector<std::string>& names, rocksdb::DB& db,
             rocksdb::ColumnFamilyHandle* column_family) {
  return status.IsAborted() ||
         (status.IsInvalidArgument() && !AreThere(names, db, column_family));
}

}  // namespace

ExpirySweep::ExpirySweep(rocksdb::DB* db,
                         rocksdb::ColumnFamilyHandle* column_family,
                         std::shared_ptr<ColumnFamilyTtl> ttl)
    : db_(db), column_family_(column_family), ttl_(std::move(ttl)) {}

absl::StatusOr<SweepReport> ExpirySweep::Run(const SweepOptions& options,
                                             TimestampMs now_ms) {
  MAYFLY_RETURN_IF_ERROR(Validate(options));
  SweepReport report;
  const std::optional<PurgePoint> purge = ttl_->ReadPurgePoint();
  if (!purge) return report;
  const absl::Status status = RunSteps(options, now_ms, *purge, report);
  {
    const std::lock_guard lock(mutex_);
    totals_ += report;
  }
  MAYFLY_RETURN_IF_ERROR(status);
  return report;
}

SweepReport ExpirySweep::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

absl::Status ExpirySweep::RunSteps(const SweepOptions& options,
                                   TimestampMs now_ms, const PurgePoint& purge,
                                   SweepReport& report) {
  if (stopped_) return absl::OkStatus();
  MAYFLY_RETURN_IF_ERROR(FlushIfOld(options, now_ms, report));
  absl::Status status = RunPlan(options, purge, report);
  const bool takes_files_away = report.files_dropped + report.compactions > 0;
  const bool took_files_away =
      std::exchange(took_files_away_, takes_files_away);
  // What a failed step has left undone does not keep what the others did.
  if (!stopped_ && (takes_files_away || took_files_away)) {
    status.Update(UnlinkLeftFiles());
  }
  return status;
}

absl::Status ExpirySweep::RunPlan(const SweepOptions& options,
                                  const PurgePoint& purge,
                                  SweepReport& report) {
  MAYFLY_ASSIGN_OR_RETURN(const std::vector<FileExpiry> files, Files());
  for (const SweepStep& step : PlanSweep(files, purge, options)) {
    if (stopped_) break;
    if (step.action == SweepAction::kCompact &&
        report.bytes_read >= options.bytes_max) {
      ++report.steps_left;
      continue;
    }
    MAYFLY_RETURN_IF_ERROR(RunStep(step, purge, report));
  }
  return absl::OkStatus();
}

absl::Status ExpirySweep::UnlinkLeftFiles() {
  // Unless somebody else has turned deletions off, to copy files, turning them
  // on looks for files that belong to no version.
  rocksdb::Status status = db_->DisableFileDeletions();
  if (status.ok()) status = db_->EnableFileDeletions(/*force=*/false);
  if (!status.ok()) return Failed(*ttl_, "cannot unlink files", status);
  return absl::OkStatus();
}

absl::Status ExpirySweep::FlushIfOld(const SweepOptions& options,
                                     TimestampMs now_ms, SweepReport& report) {
  std::uint64_t entries = 0;
  db_->GetIntProperty(column_family_,
                      rocksdb::DB::Properties::kNumEntriesActiveMemTable,
                      &entries);
  if (entries == 0) {
    unflushed_since_ms_.reset();
    return absl::OkStatus();
  }
  // A clock that was set back begins the wait anew, and does not stop it.
  unflushed_since_ms_ = std::min(unflushed_since_ms_.value_or(now_ms), now_ms);
  if (now_ms <
      SaturatingAdd(*unflushed_since_ms_, options.staleness_max.count() / 2)) {
    return absl::OkStatus();
  }
  const rocksdb::Status status =
      db_->Flush(rocksdb::FlushOptions(), column_family_);
  if (!status.ok()) return Failed(*ttl_, "cannot write to a file", status);
  unflushed_since_ms_.reset();
  ++report.flushes;
  return absl::OkStatus();
}

absl::Status ExpirySweep::RunStep(const SweepStep& step,
                                  const PurgePoint& purge,
                                  SweepReport& report) {
  rocksdb::CompactionOptions options;
  // That of the column family.
  options.compression = rocksdb::kDisableCompressionOption;
  options.output_file_size_limit =
      db_->GetOptions(column_family_).target_file_size_base;
  // See DropScope.
  options.max_subcompactions = 1;
  std::vector<std::string> names;
  for (const SweepFile& file : step.files) names.push_back(file.name);
  const DropTarget target{
      .ttl = ttl_.get(), .files = step.files, .purge = purge};
  std::optional<DropScope> drop;
  if (step.action == SweepAction::kDrop) drop.emplace(target);
  rocksdb::CompactionJobInfo job;
  const rocksdb::Status status = db_->CompactFiles(
      options, column_family_, names, step.output_level,
      /*output_path_id=*/-1, /*output_file_names=*/nullptr, &job);
  if (IsTaken(status, names, *db_, column_family_)) {
    ++report.steps_left;
    return absl::OkStatus();
  }
  // The database is about to close.
  if (stopped_ && !status.ok()) return absl::OkStatus();
  if (!status.ok()) return Failed(*ttl_, "cannot compact", status);
  if (step.action == SweepAction::kDrop) {
    report.files_dropped += step.files.size();
    report.bytes_dropped += step.bytes;
    return absl::OkStatus();
  }
  ++report.compactions;
  report.bytes_read += job.stats.total_input_bytes;
  report.bytes_written += job.stats.total_output_bytes;
  return absl::OkStatus();
}

}  // namespace mayfly
