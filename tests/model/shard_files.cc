#include "tests/model/shard_files.h"

#include <algorithm>
#include <cstdarg>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compaction/drop_filter.h"
#include "mayfly/compaction/expiry_sweep.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/testing/manual_clock.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "state/rocksdb_layout.h"
#include "state/shard_record.h"
#include "state/state_registry.h"

namespace mayfly::model_test {
namespace {

constexpr int kLastLevel = 6;

// RocksDB would begin another log file each time.
class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

absl::Status Done(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("files: ", status.ToString()));
}

// The options of a state's column family; sets `ttl` if it has a TTL.
absl::StatusOr<rocksdb::ColumnFamilyOptions> OptionsOf(
    const v1::StateRecord& state, std::shared_ptr<const TtlClock> clock,
    std::shared_ptr<ColumnFamilyTtl>& ttl) {
  rocksdb::ColumnFamilyOptions options;
  options.disable_auto_compactions = true;
  const bool is_list = state.kind() == v1::STATE_KIND_LIST;
  if (!state.has_ttl()) {
    if (is_list) ConfigurePlainListColumnFamily(&options);
    return options;
  }
  MAYFLY_ASSIGN_OR_RETURN(
      ttl, ColumnFamilyTtl::Create(
               {.name = state.name(),
                .layout = is_list ? EntryLayout::kList : EntryLayout::kValue,
                .rule = state_internal::RuleOf(state)},
               std::move(clock)));
  ConfigureTtlColumnFamily(ttl, &options);
  return options;
}

}  // namespace

ShardFiles::ShardFiles(const std::string& directory, FileRule rule,
                       FileWork* work)
    : directory_(directory), rule_(rule), work_(work) {}

ShardFiles::~ShardFiles() {
  if (db_ == nullptr) return;
  db_->DestroyColumnFamilyHandle(default_handle_);
  for (const State& state : states_) {
    db_->DestroyColumnFamilyHandle(state.handle);
  }
}

absl::Status ShardFiles::Open() {
  v1::ShardRecord record;
  MAYFLY_RETURN_IF_ERROR(state_internal::ReadShardRecord(
                             directory_, v1::BACKEND_KIND_ROCKSDB, record)
                             .status());
  const auto processing = std::make_shared<ManualClock>(0);
  const auto event = std::make_shared<ManualClock>(0);
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()}};
  for (const v1::StateRecord& state : record.states()) {
    const bool by_watermark =
        state.ttl().time_characteristic() == v1::TIME_CHARACTERISTIC_EVENT;
    MAYFLY_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyOptions options,
                            OptionsOf(state, by_watermark ? event : processing,
                                      states_.emplace_back().ttl));
    families.emplace_back(state_internal::ColumnFamilyOf(state),
                          std::move(options));
  }
  rocksdb::DBOptions options;
  options.info_log = std::make_shared<NoLog>();
  // Files are few and small.
  options.max_file_opening_threads = 1;
  options.allow_fallocate = false;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  MAYFLY_RETURN_IF_ERROR(Done(
      rocksdb::DB::Open(options, directory_ + "/db", families, &handles, &db)));
  db_.reset(db);
  default_handle_ = handles[0];
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].handle = handles[i + 1];
  }
  MAYFLY_ASSIGN_OR_RETURN(const v1::CommitRecord commit, ReadCommit());
  const TimestampMs early_ms = rule_ == FileRule::kRemoveEarly ? 1 : 0;
  processing->SetMs(commit.processing_clock_ms() + early_ms);
  event->SetMs(commit.event_clock_ms() + early_ms);
  return absl::OkStatus();
}

absl::StatusOr<v1::CommitRecord> ShardFiles::ReadCommit() {
  v1::CommitRecord commit;
  std::string bytes;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), "commit", &bytes);
  if (status.IsNotFound()) return commit;
  MAYFLY_RETURN_IF_ERROR(Done(status));
  if (commit.ParseFromString(bytes)) return commit;
  return absl::InternalError("the last commit does not decode");
}

// --- Compactions ---

absl::Status ShardFiles::CompactSome(int times, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < times && !states_.empty(); ++i) {
    State& state = states_[random() % states_.size()];
    MAYFLY_RETURN_IF_ERROR(CompactSomeOf(state, random));
  }
  return absl::OkStatus();
}

absl::Status ShardFiles::CompactSomeOf(State& state, std::mt19937_64& random) {
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(state.handle, &metadata);
  std::vector<std::string> chosen;
  int level = 1;
  for (const rocksdb::LevelMetaData& at : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : at.files) {
      if (random() % 2 == 0) continue;
      chosen.push_back(file.name);
      level = std::max(level, at.level);
    }
  }
  if (chosen.empty()) return absl::OkStatus();
  level += static_cast<int>(random() %
                            static_cast<unsigned>(kLastLevel + 1 - level));
  ++work_->compactions;
  return Done(db_->CompactFiles(rocksdb::CompactionOptions(), state.handle,
                                chosen, level));
}

// --- Sweeps ---

absl::Status ShardFiles::Sweep() {
  for (State& state : states_) {
    if (state.ttl == nullptr) continue;
    MAYFLY_RETURN_IF_ERROR(rule_ == FileRule::kRight ? SweepRightly(state)
                                                     : DropWrongly(state));
  }
  return absl::OkStatus();
}

absl::Status ShardFiles::SweepRightly(State& state) {
  ExpirySweep sweep(db_.get(), state.handle, state.ttl);
  MAYFLY_ASSIGN_OR_RETURN(const SweepReport report,
                          sweep.Run(SweepOptions(), /*now_ms=*/0));
  work_->files_dropped += report.files_dropped;
  work_->sweep_compactions += report.compactions;
  return absl::OkStatus();
}

absl::Status ShardFiles::DropWrongly(State& state) {
  const std::optional<PurgePoint> purge = state.ttl->ReadPurgePoint();
  MAYFLY_ASSIGN_OR_RETURN(const std::vector<FileExpiry> files,
                          ListFileExpiry(*db_, state.handle));
  for (const FileExpiry& file : files) {
    const bool expired =
        file.times->AllThrough(purge->rule.ExpiredThrough(purge->now_ms));
    if (!expired) continue;
    if (rule_ == FileRule::kDropOverOlder && file.level > 0) {
      MAYFLY_RETURN_IF_ERROR(Drop(state, file, file.level));
    }
    if (rule_ == FileRule::kDropFromLevelZero && file.level == 0) {
      // RocksDB takes the older files of level 0 along.
      return Drop(state, file, kLastLevel);
    }
  }
  return absl::OkStatus();
}

absl::Status ShardFiles::Drop(State& state, const FileExpiry& file,
                              int output_level) {
  const std::vector<SweepFile> files = {{.name = file.name,
                                         .smallest_key = file.smallest_key,
                                         .largest_key = file.largest_key}};
  const compaction_internal::DropTarget target{
      .ttl = state.ttl.get(),
      .files = files,
      .purge = *state.ttl->ReadPurgePoint()};
  const compaction_internal::DropScope scope(target);
  ++work_->files_dropped;
  return Done(db_->CompactFiles(rocksdb::CompactionOptions(), state.handle,
                                {file.name}, output_level));
}

}  // namespace mayfly::model_test
