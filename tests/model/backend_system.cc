#include "tests/model/backend_system.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "mayfly/serde/status_macros.h"

namespace mayfly::model_test {
namespace {

using Milliseconds = std::chrono::milliseconds;

// In the order of StateKind.
constexpr std::array<const char*, kStateKinds> kStateNames = {
    "value", "list", "map", "reducing", "aggregating"};

BackendOptions OptionsOf(const Settings& settings) {
  constexpr std::size_t kTinyBytes = 4096;
  BackendOptions options;
  options.kind =
      settings.on_heap() ? BackendKind::kHeap : BackendKind::kRocksdb;
  if (settings.backend == BackendChoice::kRocksdbTinyTable) {
    options.table_bytes_max = kTinyBytes;
  }
  return options;
}

// What the states are registered with.
std::optional<StateTtlConfig> TtlOf(const Settings& settings) {
  if (!settings.has_ttl) return std::nullopt;
  StateTtlConfig::Builder builder =
      settings.ttl_ms == kInfiniteMs
          ? StateTtlConfig::NewInfiniteBuilder()
          : StateTtlConfig::NewBuilder(Milliseconds(settings.ttl_ms));
  builder
      .SetUpdateType(settings.refresh_on_read ? UpdateType::kOnReadAndWrite
                                              : UpdateType::kOnCreateAndWrite)
      .SetRefreshGranularity(Milliseconds(settings.granularity_ms))
      .SetStateVisibility(settings.return_expired
                              ? StateVisibility::kReturnExpiredIfNotCleanedUp
                              : StateVisibility::kNeverReturnExpired)
      .SetTimeCharacteristic(settings.event_time
                                 ? TimeCharacteristic::kEventTime
                                 : TimeCharacteristic::kProcessingTime);
  switch (settings.cleanup) {
    case Cleanup::kDefault:
      break;
    case Cleanup::kOff:
      builder.DisableCleanupInBackground();
      break;
    case Cleanup::kEveryRecord:
      builder.CleanupIncrementally(3, /*run_for_every_record=*/true);
      break;
    case Cleanup::kOnlyIncremental:
      builder.DisableCleanupInBackground().CleanupIncrementally(
          20, /*run_for_every_record=*/false);
      break;
    case Cleanup::kOnlyCompactionFilter:
      builder.DisableCleanupInBackground().CleanupInRocksdbCompactFilter(0);
      break;
  }
  return builder.Build().value();
}

}  // namespace

BackendSystem::BackendSystem(const Settings& settings, Happenings* happenings,
                             FileRule file_rule)
    : settings_(settings),
      happenings_(happenings),
      file_rule_(file_rule),
      clock_(std::make_shared<ManualClock>(settings.start_ms)),
      right_ms_(settings.start_ms) {}

Answer BackendSystem::Run(const Operation& operation) {
  if (backend_ == nullptr) {
    const absl::Status opened = Open();
    if (!opened.ok()) return AnswerOf(opened);
  }
  switch (operation.action) {
    case Action::kPass:
    case Action::kSetBack:
    case Action::kJump:
    case Action::kSetRight:
    case Action::kMoveWatermark:
      return MoveClock(operation);
    case Action::kCleanUp:
      return AnswerOf(
          backend_->CleanUp(static_cast<std::uint64_t>(operation.count))
              .status());
    case Action::kCleanUpInBackground:
      return AnswerOf(
          backend_
              ->CleanUpInBackground(static_cast<std::uint64_t>(operation.count))
              .status());
    case Action::kCleanUpAll:
      return CleanUpAll();
    case Action::kCommit:
      return AnswerOf(backend_->Commit(std::to_string(operation.number)));
    case Action::kCount:
    case Action::kCompact:
      return CommitAndCount(operation);
    case Action::kCompactUncommitted:
      return AnswerOf(backend_->Compact());
    case Action::kSweep:
      return Sweep(operation);
    case Action::kRestart:
    case Action::kRewriteFiles:
      return Restart(operation);
    default:
      return states_->Run(operation);
  }
}

void BackendSystem::Close() {
  states_.reset();
  backend_.reset();
}

absl::Status BackendSystem::Open() {
  BackendOptions options = OptionsOf(settings_);
  options.directory = directory_.Path("shard");
  options.processing_clock = clock_;
  MAYFLY_ASSIGN_OR_RETURN(backend_,
                          KeyedStateBackend<std::string>::Open(options));
  states_.emplace(backend_.get(), TtlOf(settings_));
  const Answer looked = states_->Look();
  return looked.code == Code::kOk ? absl::OkStatus()
                                  : absl::InternalError(looked.error);
}

Answer BackendSystem::Restart(const Operation& restart) {
  if (restart.ms != 0) {
    settings_.ttl_ms = restart.ms;
    ++happenings_->ttl_changes;
  }
  if (restart.cleanup) {
    settings_.cleanup = *restart.cleanup;
    ++happenings_->cleanup_changes;
  }
  right_ms_ = clock_->NowMs();
  Close();
  absl::Status opened = restart.action == Action::kRewriteFiles
                            ? RewriteFiles(restart)
                            : absl::OkStatus();
  if (opened.ok()) opened = Open();
  if (!opened.ok()) return AnswerOf(opened);
  Answer answer;
  const std::string& position = backend_->committed_position();
  answer.items.push_back({0, backend_->has_commit() ? position : "0"});
  return answer;
}

absl::Status BackendSystem::RewriteFiles(const Operation& rewrite) {
  ShardFiles files(directory_.Path("shard"), file_rule_, &happenings_->files);
  MAYFLY_RETURN_IF_ERROR(files.Open());
  MAYFLY_RETURN_IF_ERROR(files.CompactSome(
      rewrite.count, static_cast<std::uint64_t>(rewrite.number)));
  return files.Sweep();
}

Answer BackendSystem::Sweep(const Operation& sweep) {
  const SweepOptions options{.expired_share = sweep.count / 100.0,
                             .staleness_max = std::chrono::seconds(1)};
  const absl::StatusOr<SweepReport> report =
      backend_->disk_sweeper()->Sweep(options, clock_->NowMs() + sweep.ms);
  if (!report.ok()) return AnswerOf(report.status());
  happenings_->files.flushes += report->flushes;
  happenings_->files.sweep_compactions += report->compactions;
  happenings_->files.files_dropped += report->files_dropped;
  return {};
}

Answer BackendSystem::MoveClock(const Operation& move) {
  const std::int64_t now_ms = clock_->NowMs();
  switch (move.action) {
    case Action::kPass:
      right_ms_ += move.ms;
      clock_->SetMs(now_ms + move.ms);
      break;
    case Action::kSetBack:
      clock_->SetMs(std::max<std::int64_t>(0, now_ms - move.ms));
      break;
    case Action::kJump:
      clock_->JumpToMs(now_ms + move.ms);
      break;
    case Action::kSetRight:
      clock_->JumpToMs(right_ms_);
      break;
    default:
      backend_->AdvanceWatermark(backend_->watermark() + move.ms);
  }
  Answer answer = states_->Look();
  // Nobody looks at the machine's clock for states that do not age by it.
  if (settings_.has_ttl && !settings_.event_time && backend_->clock_jumped()) {
    answer.items.push_back({0, "jumped"});
  }
  return answer;
}

Answer BackendSystem::CleanUpAll() {
  // More than any program stores comes to.
  constexpr int kCallsMax = 100;
  constexpr std::uint64_t kEntriesPerCall = 1000;
  // The first round to end may have begun before entries expired.
  int rounds = 0;
  for (int calls = 0; rounds < 2; ++calls) {
    if (calls == kCallsMax) {
      return {.code = Code::kOther, .error = "no end of CleanUp()"};
    }
    const absl::StatusOr<CleanUpResult> result =
        backend_->CleanUp(kEntriesPerCall);
    if (!result.ok()) return AnswerOf(result.status());
    rounds += result->round_complete ? 1 : 0;
  }
  return {};
}

Answer BackendSystem::CommitAndCount(const Operation& operation) {
  absl::Status done = backend_->Commit(std::to_string(operation.number));
  if (done.ok() && operation.action == Action::kCompact) {
    done = backend_->Compact();
  }
  if (!done.ok()) return AnswerOf(done);
  const auto all = backend_->Statistics();
  if (!all.ok()) return AnswerOf(all.status());
  Answer answer;
  for (std::size_t state = 0; state < kStateKinds; ++state) {
    const auto counts = std::find_if(
        all->begin(), all->end(), [&](const StateStatistics& statistics) {
          return statistics.state == kStateNames.at(state);
        });
    if (counts == all->end()) continue;
    const int at = static_cast<int>(state);
    answer.items.push_back({at, std::to_string(counts->live_entries)});
    if (counts->expired_entries > 0) answer.items.push_back({at, "expired"});
  }
  return answer;
}

}  // namespace mayfly::model_test
