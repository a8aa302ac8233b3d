#include "tests/model/backend_system.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#include "mayfly/serde/status_macros.h"

namespace mayfly::model_test {
namespace {

using Milliseconds = std::chrono::milliseconds;

// In the order of StateKind.
constexpr std::array<const char*, kStateKinds> kStateNames = {
    "value", "list", "map", "reducing", "aggregating"};

state_test::Placement PlacementOf(const Layout& layout) {
  switch (layout.backend) {
    case BackendChoice::kHeap:
      return {state_test::kHeap, layout.shards};
    case BackendChoice::kRocksdb:
      return {state_test::kRocksdb, layout.shards};
    case BackendChoice::kRocksdbTinyTable:
      return {state_test::kRocksdbTinyTable, layout.shards};
  }
  return {state_test::kHeap};
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
      shards_(PlacementOf(settings.layout), settings.start_ms),
      right_ms_(settings.start_ms) {}

template <typename Do>
Answer BackendSystem::OnAll(const Do& action) {
  absl::Status first_error;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    first_error.Update(action(shards_[i]));
  }
  return AnswerOf(first_error);
}

Answer BackendSystem::Run(const Operation& operation) {
  using Shard = Shards::Backend;
  if (!shards_.is_open()) {
    const absl::Status opened = Open();
    if (!opened.ok()) return AnswerOf(opened);
  }
  const auto count = static_cast<std::uint64_t>(operation.count);
  const std::string number = std::to_string(operation.number);
  switch (operation.action) {
    case Action::kPass:
    case Action::kSetBack:
    case Action::kJump:
    case Action::kSetRight:
    case Action::kMoveWatermark:
      return MoveClock(operation);
    case Action::kCleanUp:
      return OnAll([&](Shard& shard) { return shard.CleanUp(count).status(); });
    case Action::kCleanUpInBackground:
      return OnAll([&](Shard& shard) {
        return shard.CleanUpInBackground(count).status();
      });
    case Action::kCleanUpAll:
      return CleanUpAll();
    case Action::kCommit:
      return AnswerOf(shards_.Commit(number));
    case Action::kBeginCommit:
      return OnAll([&](Shard& shard) { return shard.BeginCommit(number); });
    case Action::kStepCommit:
      return OnAll([&](Shard& shard) {
        for (int i = 0; i < operation.count; ++i) shard.StepCommit();
        return absl::OkStatus();
      });
    case Action::kFinishCommit:
      return OnAll([](Shard& shard) { return shard.FinishCommit(); });
    case Action::kCount:
    case Action::kCompact:
      return CommitAndCount(operation);
    case Action::kCompactUncommitted:
      return OnAll([](Shard& shard) { return shard.Compact(); });
    case Action::kSweep:
      return Sweep(operation);
    case Action::kCheckpoint:
    case Action::kSavepoint:
      return Save(operation);
    case Action::kRestart:
    case Action::kRewriteFiles:
    case Action::kRestore:
      return Restart(operation);
    default:
      return RunOnContents(operation);
  }
}

// Each state is registered as late as it is used, and then in all shards.
Answer BackendSystem::RunOnContents(const Operation& operation) {
  for (BackendStates& states : states_) {
    const absl::Status registered = states.Register(operation.state);
    if (!registered.ok()) return AnswerOf(registered);
  }
  return states_.at(shards_.ShardOf(KeyName(operation.key))).Run(operation);
}

void BackendSystem::Close() {
  if (shards_.is_open() && shards_[0].committing()) {
    ++happenings_->half_commits;
  }
  states_.clear();
  shards_.Close();
}

absl::Status BackendSystem::Open() {
  MAYFLY_RETURN_IF_ERROR(shards_.Open());
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    states_.emplace_back(&shards_[i], TtlOf(settings_));
  }
  const Answer looked = Look();
  return looked.code == Code::kOk ? absl::OkStatus()
                                  : absl::InternalError(looked.error);
}

Answer BackendSystem::Restart(const Operation& restart) {
  const bool had_ttl = settings_.has_ttl;
  settings_.ChangeTtl(restart.ms);
  if (settings_.has_ttl != had_ttl) {
    ++happenings_->ttl_switches;
  } else if (restart.ms != 0) {
    ++happenings_->ttl_changes;
  }
  if (restart.cleanup) {
    settings_.cleanup = *restart.cleanup;
    ++happenings_->cleanup_changes;
  }
  right_ms_ = shards_.clock().NowMs();
  Close();
  absl::Status opened = GoBackTo(restart);
  if (opened.ok()) opened = Open();
  if (!opened.ok()) return AnswerOf(opened);
  Answer answer;
  const std::string& position = shards_[0].committed_position();
  answer.items.push_back({0, shards_[0].has_commit() ? position : "0"});
  return answer;
}

// Makes the closed shards what they are to be opened as.
absl::Status BackendSystem::GoBackTo(const Operation& restart) {
  if (restart.action == Action::kRewriteFiles) return RewriteFiles(restart);
  if (restart.action != Action::kRestore) return absl::OkStatus();
  const auto& saved = saved_.at(static_cast<std::size_t>(restart.count));
  if (!saved) return absl::OkStatus();
  const state_test::Placement before = shards_.placement();
  const bool is_savepoint = saved->form == state_test::SaveForm::kSavepoint;
  const bool moves = is_savepoint || restart.layout;
  if (!moves) {
    MAYFLY_RETURN_IF_ERROR(shards_.CopyFrom(*saved));
  } else {
    MAYFLY_RETURN_IF_ERROR(shards_.RestoreFrom(
        *saved, restart.layout ? PlacementOf(*restart.layout) : saved->from));
  }
  ++(is_savepoint ? happenings_->savepoints_restored
     : moves      ? happenings_->checkpoints_moved
                  : happenings_->checkpoints_opened);
  const state_test::Placement& after = shards_.placement();
  if (after.setup.kind != before.setup.kind) ++happenings_->backend_changes;
  if (after.shards != before.shards) ++happenings_->shard_changes;
  return absl::OkStatus();
}

absl::Status BackendSystem::RewriteFiles(const Operation& rewrite) {
  if (shards_.placement().setup.kind == BackendKind::kHeap) {
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    ShardFiles files(shards_.Directory(i), file_rule_, &happenings_->files);
    MAYFLY_RETURN_IF_ERROR(files.Open());
    MAYFLY_RETURN_IF_ERROR(files.CompactSome(
        rewrite.count, static_cast<std::uint64_t>(rewrite.number)));
    MAYFLY_RETURN_IF_ERROR(files.Sweep());
  }
  return absl::OkStatus();
}

Answer BackendSystem::Save(const Operation& save) {
  auto saved = shards_.Save(save.action == Action::kSavepoint
                                ? state_test::SaveForm::kSavepoint
                                : state_test::SaveForm::kCheckpoint);
  if (!saved.ok()) return AnswerOf(saved.status());
  saved_.at(static_cast<std::size_t>(save.count)) = *std::move(saved);
  return {};
}

Answer BackendSystem::Sweep(const Operation& sweep) {
  const SweepOptions options{.expired_share = sweep.count / 100.0,
                             .staleness_max = std::chrono::seconds(1)};
  return OnAll([&](Shards::Backend& shard) {
    const std::shared_ptr<DiskSweeper> sweeper = shard.disk_sweeper();
    if (sweeper == nullptr) return absl::OkStatus();
    const absl::StatusOr<SweepReport> report =
        sweeper->Sweep(options, shards_.clock().NowMs() + sweep.ms);
    if (!report.ok()) return report.status();
    happenings_->files.flushes += report->flushes;
    happenings_->files.sweep_compactions += report->compactions;
    happenings_->files.files_dropped += report->files_dropped;
    return absl::OkStatus();
  });
}

Answer BackendSystem::Look() {
  for (BackendStates& states : states_) {
    Answer looked = states.Look();
    if (looked.code != Code::kOk) return looked;
  }
  return {};
}

Answer BackendSystem::MoveClock(const Operation& move) {
  const std::int64_t now_ms = shards_.clock().NowMs();
  switch (move.action) {
    case Action::kPass:
      right_ms_ += move.ms;
      shards_.clock().SetMs(now_ms + move.ms);
      break;
    case Action::kSetBack:
      shards_.clock().SetMs(std::max<std::int64_t>(0, now_ms - move.ms));
      break;
    case Action::kJump:
      shards_.clock().JumpToMs(now_ms + move.ms);
      break;
    case Action::kSetRight:
      shards_.clock().JumpToMs(right_ms_);
      break;
    default:
      for (std::size_t i = 0; i < shards_.size(); ++i) {
        shards_[i].AdvanceWatermark(shards_[i].watermark() + move.ms);
      }
  }
  Answer answer = Look();
  if (shards_[0].clock_jumped()) answer.items.push_back({0, "jumped"});
  return answer;
}

Answer BackendSystem::CleanUpAll() {
  return OnAll([](Shards::Backend& shard) {
    // More than any program stores comes to.
    constexpr int kCallsMax = 100;
    constexpr std::uint64_t kEntriesPerCall = 1000;
    // The first round to end may have begun before entries expired.
    int rounds = 0;
    for (int calls = 0; rounds < 2; ++calls) {
      if (calls == kCallsMax) {
        return absl::InternalError("no end of CleanUp()");
      }
      const absl::StatusOr<CleanUpResult> result =
          shard.CleanUp(kEntriesPerCall);
      if (!result.ok()) return result.status();
      rounds += result->round_complete ? 1 : 0;
    }
    return absl::OkStatus();
  });
}

Answer BackendSystem::CommitAndCount(const Operation& operation) {
  std::array<StateStatistics, kStateKinds> counts;
  Answer done = OnAll([&](Shards::Backend& shard) -> absl::Status {
    MAYFLY_RETURN_IF_ERROR(shard.Commit(std::to_string(operation.number)));
    if (operation.action == Action::kCompact) {
      MAYFLY_RETURN_IF_ERROR(shard.Compact());
    }
    MAYFLY_ASSIGN_OR_RETURN(const auto all, shard.Statistics());
    for (const StateStatistics& one : all) {
      // Not counted: it is stored and nobody has registered it.
      if (!one.exact) continue;
      const auto* const name = std::ranges::find(kStateNames, one.state);
      if (name == kStateNames.end()) continue;
      StateStatistics& sum =
          counts.at(static_cast<std::size_t>(name - kStateNames.begin()));
      sum.exact = true;
      sum.live_entries += one.live_entries;
      sum.expired_entries += one.expired_entries;
    }
    return absl::OkStatus();
  });
  for (std::size_t state = 0; state < kStateKinds; ++state) {
    const StateStatistics& sum = counts.at(state);
    if (!sum.exact) continue;
    const int at = static_cast<int>(state);
    done.items.push_back({at, std::to_string(sum.live_entries)});
    if (sum.expired_entries > 0) done.items.push_back({at, "expired"});
  }
  return done;
}

}  // namespace mayfly::model_test
