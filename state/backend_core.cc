#include "mayfly/state/internal/backend_core.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/v1/state.pb.h"
#include "state/entry_migration.h"
#include "state/heap_backend.h"
#include "state/rocksdb_backend.h"
#include "state/shard_monitor.h"
#include "state/state_registry.h"
#include "state/stored_entries.h"

namespace mayfly::state_internal {
namespace {

ShardClock ProcessingClock(const BackendOptions& options) {
  return options.processing_clock != nullptr
             ? ShardClock(options.processing_clock, ClockReading::kExact)
             : ShardClock(SystemClock(), ClockReading::kCoarse);
}

absl::Status CheckOptions(const BackendOptions& options) {
  if (options.kind == BackendKind::kRocksdb && options.directory.empty()) {
    return absl::InvalidArgumentError(
        "BackendOptions: the RocksDB backend needs a directory");
  }
  if (options.table_bytes_max == 0) {
    return absl::InvalidArgumentError(
        "BackendOptions: table_bytes_max must be > 0, got 0");
  }
  return Validate(options.rocksdb);
}

// Counts what one stored record of a state holds.
void CountEntries(const StateSpec& spec, const TtlPolicy& policy,
                  EntryFormat format, TimestampMs now_ms, std::string_view key,
                  std::string_view stored, StateStatistics& counts) {
  const auto count = [&](const EntryView& entry, std::size_t bytes) {
    const bool expired =
        policy.enabled() && policy.rule.IsExpired(entry.timestamp_ms, now_ms);
    ++(expired ? counts.expired_entries : counts.live_entries);
    if (expired) counts.expired_bytes += bytes;
  };
  counts.bytes += key.size() + stored.size();
  VisitStoredEntries(spec.kind == StateKind::kList, format, key, stored, count);
}

void Extrapolate(std::uint64_t visited, std::uint64_t total,
                 StateStatistics& counts) {
  const double factor =
      static_cast<double>(total) / static_cast<double>(visited);
  const auto scale = [factor](std::uint64_t& figure) {
    figure = static_cast<std::uint64_t>(static_cast<double>(figure) * factor);
  };
  scale(counts.live_entries);
  scale(counts.expired_entries);
  scale(counts.bytes);
  scale(counts.expired_bytes);
  counts.exact = false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BackendCore>> BackendCore::Open(
    const BackendOptions& options) {
  MAYFLY_RETURN_IF_ERROR(CheckOptions(options));
  DirectoryLock lock;
  if (!options.directory.empty()) {
    MAYFLY_RETURN_IF_ERROR(MakeDirectory(options.directory));
    MAYFLY_ASSIGN_OR_RETURN(lock, DirectoryLock::Acquire(options.directory));
  }
  std::unique_ptr<BackendCore> core =
      options.kind == BackendKind::kHeap
          ? MakeHeapBackend(options, std::move(lock))
          : MakeRocksdbBackend(options, std::move(lock));
  MAYFLY_RETURN_IF_ERROR(core->Recover());
  MAYFLY_RETURN_IF_ERROR(core->CheckNothingLost());
  const v1::CommitRecord& commit = core->last_commit();
  core->processing_clock_.AdvanceTo(commit.processing_clock_ms());
  core->event_clock_.AdvanceTo(commit.event_clock_ms());
  // The first look is taken at its word, so it comes now, and a jump that comes
  // later is recognised.
  core->processing_clock_.NowMs();
  core->SetPurgeClocks();
  return core;
}

BackendCore::BackendCore(const BackendOptions& options, DirectoryLock lock)
    : options_(options),
      lock_(std::move(lock)),
      record_(std::make_unique<v1::ShardRecord>()),
      last_commit_(std::make_unique<v1::CommitRecord>()),
      memory_{.limit = options.table_bytes_max},
      evict_above_(options.table_bytes_max),
      processing_clock_(ProcessingClock(options)),
      monitor_(std::make_shared<ShardMonitor>()) {}

BackendCore::~BackendCore() = default;

// A shard that starts afresh over what it had would take its old output back.
absl::Status BackendCore::CheckNothingLost() const {
  if (!record_->committed() || has_commit()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("'", options_.directory,
                   "' has been committed to, and no commit is left in it; "
                   "restore an earlier "
                   "copy of the directory, or remove it to start afresh"));
}

void BackendCore::NoteCommitted() {
  if (record_->committed()) return;
  record_->set_committed(true);
  record_->set_committed(SaveRecord().ok());
}

absl::StatusOr<StateTable*> BackendCore::FindTable(
    const StateSpec& spec) const {
  const auto it = states_.find(spec.name);
  if (it == states_.end()) return nullptr;
  if (it->second.spec == spec) return it->second.table.get();
  return absl::FailedPreconditionError(
      absl::StrCat("state '", spec.name, "' is already registered as ",
                   it->second.spec.ToString(), "; it cannot be registered as ",
                   spec.ToString(),
                   " too: describe it alike wherever it is asked for, or give "
                   "one of the two another name"));
}

v1::StateRecord* BackendCore::FindRecord(const std::string& name) {
  for (v1::StateRecord& state : *record_->mutable_states()) {
    if (state.name() == name) return &state;
  }
  return nullptr;
}

absl::StatusOr<TableContext> BackendCore::Register(const StateSpec& spec) {
  MAYFLY_RETURN_IF_ERROR(CheckStateName(spec.name));
  v1::StateRecord record = NewRecord(spec);
  migration_.reset();
  if (const v1::StateRecord* const stored = FindRecord(spec.name)) {
    MAYFLY_ASSIGN_OR_RETURN(
        record, Reconcile(*stored, spec, *last_commit_, options_.directory));
    if (EntryMigration::Needed(*stored, record)) {
      MAYFLY_ASSIGN_OR_RETURN(migration_, MigrationTo(spec, *stored, record));
    }
  }
  TableContext context;
  context.state_name = spec.name;
  context.memory = &memory_;
  context.removed = monitor_->Register(spec.name);
  MAYFLY_ASSIGN_OR_RETURN(context.store,
                          OpenStore(spec, record, migration_.get()));
  if (spec.ttl) {
    if (const auto cleanup = IncrementalCleanupOf(spec)) {
      // As many as any step checks: more would not come sooner.
      constexpr std::int64_t kChecksMax = 1 << 20;
      context.checks_per_access =
          std::min(cleanup->entries_per_access, kChecksMax);
    }
    context.format = EntryFormat::kStamped;
    TtlPolicy& policy = context.policy;
    policy.rule = RuleOf(record);
    policy.clock =
        spec.ttl->time_characteristic() == TimeCharacteristic::kEventTime
            ? &event_clock_
            : &processing_clock_;
    policy.refresh_on_read =
        spec.ttl->update_type() == UpdateType::kOnReadAndWrite;
    policy.return_expired =
        spec.ttl->visibility() == StateVisibility::kReturnExpiredIfNotCleanedUp;
    policy.refresh_granularity_ms = spec.ttl->refresh_granularity_ms();
  }
  registering_ = std::make_unique<v1::StateRecord>(std::move(record));
  return context;
}

absl::StatusOr<std::unique_ptr<EntryMigration>> BackendCore::MigrationTo(
    const StateSpec& spec, const v1::StateRecord& stored,
    const v1::StateRecord& wanted) {
  const bool event_time = IsInEventTime(wanted.has_ttl() ? wanted : stored);
  // What is rewritten by a clock that has jumped would expire too late.
  processing_clock_.NowMs();
  const TimestampMs now_ms =
      (event_time ? event_clock_ : processing_clock_).trusted_ms();
  if (event_time && now_ms == 0 && !stored.has_ttl()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "StateMigration: state '", spec.name,
        "' is asked for with a TTL in event time, and no watermark says yet "
        "what its entries are to be stamped with: they would all expire with "
        "the first one; nothing in '",
        options_.directory,
        "' was changed: commit with a watermark under the old setting first, "
        "or call AdvanceWatermark() before the state is registered"));
  }
  const bool reserializes = stored.value_serializer().version() !=
                            wanted.value_serializer().version();
  return std::make_unique<EntryMigration>(
      EntryMigration::Plan{
          .stored = stored,
          .wanted = wanted,
          .reserialize = reserializes ? spec.migration.reserialize : nullptr,
          .now_ms = now_ms,
          .directory = options_.directory},
      options_.migration);
}

absl::Status BackendCore::Adopt(const StateSpec& spec,
                                std::unique_ptr<StateTable> table) {
  MAYFLY_RETURN_IF_ERROR(Restore(*table, migration_.get()));
  migration_.reset();
  if (v1::StateRecord* const stored = FindRecord(spec.name)) {
    *stored = *registering_;
  } else {
    *record_->add_states() = *registering_;
  }
  State& state = states_[spec.name];
  state.spec = spec;
  state.table = std::move(table);
  if (!spec.ttl) return absl::OkStatus();
  state.sweep = state.table->context().store == nullptr
                    ? MakeHeapSweep(state.table.get())
                    : MakeStoreSweep(state.table.get(), spec.kind);
  if (const auto cleanup = IncrementalCleanupOf(spec)) {
    incremental_.push_back(&state);
    if (cleanup->run_for_every_record) {
      state.checks_per_record = state.table->context().checks_per_access;
    }
  }
  return absl::OkStatus();
}

std::optional<IncrementalCleanup> BackendCore::IncrementalCleanupOf(
    const StateSpec& spec) const {
  return spec.ttl->incremental_cleanup(
      /*default_on=*/options_.kind == BackendKind::kHeap);
}

void BackendCore::PayChecks(State& state) {
  StateTable& table = *state.table;
  const auto cost = static_cast<std::int64_t>(state.sweep->NextCost());
  if (table.checks_due() >= cost) {
    const absl::StatusOr<SweepCounts> counts = Step(state);
    // What cannot be read is for a reader to report.
    const auto checked =
        counts.ok() ? static_cast<std::int64_t>(counts->checked) : 0;
    // What was checked beyond is paid for before the next step.
    table.AddChecksDue(-std::max(cost, checked));
  }
  // An empty table is not worth a look at every record.
  constexpr std::int64_t kChecksMin = 64;
  state.checks_wanted =
      std::max(static_cast<std::int64_t>(state.sweep->NextCost()), kChecksMin);
}

absl::StatusOr<SweepCounts> BackendCore::Step(const State& state) {
  const TableContext& context = state.table->context();
  // The accesses so far may have been of other states.
  context.policy.Now();
  MAYFLY_ASSIGN_OR_RETURN(const SweepCounts counts,
                          state.sweep->Step(context.policy.PurgeMs()));
  context.removed->incremental.Add(counts.removed, counts.bytes);
  return counts;
}

absl::StatusOr<CleanUpResult> BackendCore::CleanUp(std::uint64_t entries_max,
                                                   bool only_incremental) {
  RecallAll();
  std::vector<State*>& round = only_incremental ? incremental_round_ : round_;
  if (round.empty()) {
    if (only_incremental) {
      round = incremental_;
    } else {
      for (auto& [name, state] : states_) {
        if (state.sweep != nullptr) round.push_back(&state);
      }
    }
    for (State* const state : round) state->sweep->BeginRound();
  }
  CleanUpResult result;
  absl::Status first_error;
  while (!round.empty() && result.entries_checked < entries_max) {
    const State& state = *round.back();
    const absl::StatusOr<SweepCounts> counts = Step(state);
    if (!counts.ok()) {
      // The other states are cleaned all the same.
      first_error.Update(counts.status());
      round.pop_back();
      continue;
    }
    result.entries_checked += counts->checked;
    result.entries_removed += counts->removed;
    if (state.sweep->round_done()) round.pop_back();
  }
  MAYFLY_RETURN_IF_ERROR(first_error);
  result.round_complete = round.empty();
  return result;
}

absl::Status BackendCore::Commit(std::optional<std::string_view> position) {
  MAYFLY_RETURN_IF_ERROR(BeginCommit(position));
  return FinishCommit();
}

absl::Status BackendCore::BeginCommit(
    std::optional<std::string_view> position) {
  auto commit = std::make_unique<v1::CommitRecord>();
  // First: the position may be what a state has returned.
  if (position) commit->set_position(position->data(), position->size());
  RecallAll();
  MAYFLY_RETURN_IF_ERROR(FinishCommit());
  // Only now: the commit that was under way may have moved it.
  if (!position) commit->set_position(last_commit_->position());
  commit->set_sequence(last_commit_->sequence() + 1);
  processing_clock_.NowMs();
  commit->set_processing_clock_ms(processing_clock_.trusted_ms());
  commit->set_event_clock_ms(event_clock_.trusted_ms());
  MAYFLY_RETURN_IF_ERROR(BeginWrite(*commit));
  next_commit_ = std::move(commit);
  return is_writing() ? absl::OkStatus() : FinishCommit();
}

CommitProgress BackendCore::StepCommit() {
  if (!committing()) return CommitProgress::kReady;
  StepWrite();
  return progress();
}

absl::Status BackendCore::FinishCommit() {
  if (!committing()) return absl::OkStatus();
  const std::unique_ptr<v1::CommitRecord> commit = std::move(next_commit_);
  MAYFLY_RETURN_IF_ERROR(FinishWrite());
  *last_commit_ = std::move(*commit);
  for (auto& [name, state] : states_) {
    state.table->MarkCommitted();
    if (state.sweep != nullptr) state.sweep->MarkCommitted();
  }
  memory_.changed = 0;
  evict_above_ = memory_.limit;
  SetPurgeClocks();
  return absl::OkStatus();
}

absl::Status BackendCore::Compact() {
  RecallAll();
  MAYFLY_RETURN_IF_ERROR(CompactStored());
  for (auto& [name, state] : states_) {
    StateTable& table = *state.table;
    const bool compacted = state.spec.ttl &&
                           state.spec.ttl->rocksdb_compact_filter_cleanup() &&
                           table.context().store != nullptr;
    if (!compacted) continue;
    const TimestampMs purge_ms =
        purge_clock(state.spec.ttl->time_characteristic())->NowMs();
    for (std::size_t i = 0; i < table.segment_count(); ++i) {
      table.SweepSegment(i, purge_ms);
    }
  }
  return absl::OkStatus();
}

const std::string& BackendCore::committed_position() const {
  return last_commit_->position();
}

bool BackendCore::has_commit() const { return last_commit_->sequence() > 0; }

void BackendCore::SetPurgeClocks() {
  purge_processing_->Set(last_commit_->processing_clock_ms());
  purge_event_->Set(last_commit_->event_clock_ms());
}

std::shared_ptr<const TtlClock> BackendCore::purge_clock(
    TimeCharacteristic time) const {
  return time == TimeCharacteristic::kEventTime ? purge_event_
                                                : purge_processing_;
}

void BackendCore::Evict() {
  // Twice round reaches every entry: the first pass only asks whether it is in
  // use. Changed entries stay whatever the bound.
  evict_above_ = memory_.limit;
  for (int round = 0; round < 2; ++round) {
    for (auto& [name, state] : states_) {
      const std::size_t segments = state.table->segment_count();
      for (std::size_t i = 0; i < segments; ++i) {
        state.table->EvictSegment(state.eviction_cursor++ % segments);
        if (memory_.used <= memory_.limit) return;
      }
    }
  }
  evict_above_ = memory_.used + memory_.limit / 8;
}

absl::StatusOr<std::vector<StateStatistics>> BackendCore::Statistics(
    std::uint64_t visits_max) {
  for (auto& [name, state] : states_) {
    StateStatistics counts{.state = name, .exact = true};
    const StateSpec& spec = state.spec;
    const TableContext& context = state.table->context();
    const TimestampMs now_ms = context.policy.Now();
    std::uint64_t visited = 0;
    MAYFLY_ASSIGN_OR_RETURN(
        const std::uint64_t total,
        VisitStored(*state.table, visits_max,
                    [&](std::string_view key, std::string_view stored) {
                      ++visited;
                      CountEntries(spec, context.policy, context.format, now_ms,
                                   key, stored, counts);
                    }));
    if (total > visited && visited > 0) Extrapolate(visited, total, counts);
    monitor_->SetCounted(counts);
  }
  return monitor_->Read({});
}

std::shared_ptr<const StateMonitor> BackendCore::monitor() const {
  return monitor_;
}

absl::Status BackendCore::SetRocksdbOptions(const RocksdbOptions&) {
  return LiveRocksdbOptions().status();
}

absl::StatusOr<RocksdbOptions> BackendCore::LiveRocksdbOptions() const {
  return absl::FailedPreconditionError(
      "the heap backend has no RocksdbOptions; open it with "
      "BackendKind::kRocksdb");
}

}  // namespace mayfly::state_internal
