#include "mayfly/state/savepoint.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/serde/state_key.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "state/expiry_cut.h"
#include "state/shard_loader.h"
#include "state/snapshot_file.h"
#include "state/state_registry.h"
#include "state/stored_shard.h"
#include "state/transfer_meter.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using state_internal::ClockOf;
using state_internal::DirectoryLock;
using state_internal::ExpiryCut;
using state_internal::IsInEventTime;
using state_internal::ShardLoader;
using state_internal::SnapshotWriter;
using state_internal::StoredShard;
using state_internal::TransferMeter;

// Lifetime: nobody writes to it meanwhile.
struct Source {
  DirectoryLock lock;
  std::unique_ptr<StoredShard> shard;

  const StoredShard* operator->() const { return shard.get(); }
  const StoredShard& operator*() const { return *shard; }
};
using Sources = std::vector<Source>;

TransferMeter MeterOf(const TransferOptions& options, const Sources& sources) {
  TransferMeter meter(options.on_progress, options.stop);
  for (const auto& source : sources) {
    for (int i = 0; i < source->record().states_size(); ++i) {
      meter.ExpectKeys(source->Keys(static_cast<std::uint32_t>(i)));
    }
  }
  return meter;
}

absl::Status Stopped() {
  return absl::CancelledError("stopped before all of the state was moved");
}

std::string_view KeyOf(const v1::StateRecord& state, std::string_view stored) {
  if (state.kind() != v1::STATE_KIND_MAP) return stored;
  const auto parts = DecodeMapKey(stored);
  return parts ? parts->key : stored;
}

// What a restored state is recorded as: what had expired is not in it.
v1::StateRecord Restored(v1::StateRecord state) {
  if (state.has_ttl()) {
    state.mutable_ttl()->set_expired_through_ms(
        std::numeric_limits<std::int64_t>::min());
  }
  return state;
}

// The states of all sources, which must agree on those that they share.
absl::StatusOr<v1::ShardRecord> Unite(const Sources& sources) {
  v1::ShardRecord united;
  std::map<std::string, std::pair<std::string, std::string>> known;
  for (const auto& source : sources) {
    for (const v1::StateRecord& state : source->record().states()) {
      const v1::StateRecord restored = Restored(state);
      const auto [it, is_new] = known.try_emplace(
          state.name(), restored.SerializeAsString(), source->path());
      if (is_new) {
        *united.add_states() = restored;
      } else if (it->second.first != restored.SerializeAsString()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "state '", state.name(), "' is another one in '", source->path(),
            "' than in '", it->second.second,
            "': its kind, its serializers and its TTL must be the same in all "
            "that is restored together; use the shards of one checkpoint or "
            "savepoint"));
      }
    }
  }
  return united;
}

absl::Status CheckPlan(const RestorePlan& plan, const BackendOptions& target) {
  if (plan.sources.empty()) {
    return absl::InvalidArgumentError("RestorePlan: sources is empty");
  }
  if (plan.shards < 1 || plan.shard < 0 || plan.shard >= plan.shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("RestorePlan: shard must be >= 0 and < shards, got shard ",
                     plan.shard, " of ", plan.shards));
  }
  if (target.directory.empty()) {
    return absl::InvalidArgumentError(
        "BackendOptions: a restore needs a directory");
  }
  std::error_code ignored;
  if (fs::exists(target.directory, ignored) &&
      !fs::is_empty(target.directory, ignored)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", target.directory, "' is not empty; restore into a new directory"));
  }
  return absl::OkStatus();
}

// Keeps everybody from writing to the source. What changed while it is read
// could be missing without a sign of it: RocksDB may take its log away between
// two looks at the directory.
absl::StatusOr<Source> OpenSource(const std::string& path) {
  Source source;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    MAYFLY_ASSIGN_OR_RETURN(source.lock,
                            DirectoryLock::AcquireForReading(path));
  }
  MAYFLY_ASSIGN_OR_RETURN(source.shard, StoredShard::Open(path));
  return source;
}

absl::StatusOr<Sources> OpenAll(const std::vector<std::string>& paths) {
  Sources sources;
  for (const std::string& path : paths) {
    MAYFLY_ASSIGN_OR_RETURN(sources.emplace_back(), OpenSource(path));
  }
  return sources;
}

absl::Status CheckNew(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "'", file,
      "' is there already; give the savepoint a new name, or remove it first"));
}

// What the restored shard's position is to be.
absl::StatusOr<std::string> PositionOf(const RestorePlan& plan,
                                       const Sources& sources) {
  if (plan.position) return *plan.position;
  const std::string& first = sources.front()->commit().position();
  for (const auto& source : sources) {
    if (source->commit().position() == first) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "'", source->path(), "' was committed at another position than '",
        sources.front()->path(),
        "', so that none of them is that of both: say which position the "
        "restored shard is to have, or that it is to have none"));
  }
  return first;
}

v1::CommitRecord CommitOf(const std::string& position, const Sources& sources) {
  v1::CommitRecord commit;
  commit.set_sequence(1);
  commit.set_position(position);
  for (const auto& source : sources) {
    commit.set_processing_clock_ms(std::max(
        commit.processing_clock_ms(), source->commit().processing_clock_ms()));
    commit.set_event_clock_ms(
        std::max(commit.event_clock_ms(), source->commit().event_clock_ms()));
  }
  return commit;
}

// Gives the writer what `shard` has of its `state`-th state.
absl::Status SaveState(const StoredShard& shard, int state,
                       SnapshotWriter& writer, TransferMeter& meter) {
  const v1::StateRecord& record = shard.record().states(state);
  ExpiryCut cut(record, ClockOf(record, shard.commit()));
  const bool leaves_out = record.ttl().cleanup_full_snapshot();
  const auto index = static_cast<std::uint32_t>(state);
  return shard.Visit(
      index, [&](std::string_view key, std::string_view value) -> absl::Status {
        if (!meter.CountKey(key, value)) return Stopped();
        const auto left = leaves_out ? cut.Keep(value) : value;
        if (left) {
          writer.Add(index, key, *left);
        } else {
          meter.CountExpired();
        }
        return writer.status();
      });
}

// Gives the loader what `source` has of its `state`-th state.
absl::Status LoadState(const StoredShard& source, int state,
                       const RestorePlan& plan, TimestampMs processing_now_ms,
                       std::uint32_t target, ShardLoader& loader,
                       TransferMeter& meter) {
  const v1::StateRecord& record = source.record().states(state);
  const TimestampMs clock_ms = ClockOf(record, source.commit());
  ExpiryCut cut(record, IsInEventTime(record)
                            ? clock_ms
                            : std::max(clock_ms, processing_now_ms));
  return source.Visit(
      static_cast<std::uint32_t>(state),
      [&](std::string_view key, std::string_view value) -> absl::Status {
        if (!meter.CountKey(key, value)) return Stopped();
        if (PartitionForKey(KeyOf(record, key), plan.shards) != plan.shard) {
          return absl::OkStatus();
        }
        const auto left = cut.Keep(value);
        if (left) return loader.Add(target, key, *left);
        meter.CountExpired();
        return absl::OkStatus();
      });
}

}  // namespace

absl::StatusOr<TransferProgress> WriteSavepoint(
    const std::string& shard_directory, const std::string& file,
    const TransferOptions& options) {
  MAYFLY_RETURN_IF_ERROR(CheckNew(file));
  MAYFLY_ASSIGN_OR_RETURN(const Sources sources, OpenAll({shard_directory}));
  const StoredShard& shard = *sources.front();
  TransferMeter meter = MeterOf(options, sources);
  MAYFLY_ASSIGN_OR_RETURN(SnapshotWriter writer,
                          SnapshotWriter::Create(file, shard.record()));
  for (int i = 0; i < shard.record().states_size(); ++i) {
    MAYFLY_RETURN_IF_ERROR(SaveState(shard, i, writer, meter));
  }
  writer.Seal(shard.commit(), options.durability == Durability::kMachine);
  MAYFLY_RETURN_IF_ERROR(writer.Finish());
  return meter.Finish();
}

absl::StatusOr<TransferProgress> RestoreShard(const RestorePlan& plan,
                                              const BackendOptions& target,
                                              const TransferOptions& options) {
  MAYFLY_RETURN_IF_ERROR(CheckPlan(plan, target));
  MAYFLY_ASSIGN_OR_RETURN(const Sources sources, OpenAll(plan.sources));
  MAYFLY_ASSIGN_OR_RETURN(const std::string position,
                          PositionOf(plan, sources));
  MAYFLY_ASSIGN_OR_RETURN(const v1::ShardRecord record, Unite(sources));
  // A restore that was killed may have left it.
  BackendOptions unfinished = target;
  unfinished.directory = target.directory + ".tmp";
  unfinished.durability = options.durability;
  MAYFLY_RETURN_IF_ERROR(state_internal::RemoveAll(unfinished.directory));
  const absl::Cleanup remove_unfinished = [&] {
    state_internal::RemoveAll(unfinished.directory).IgnoreError();
  };
  TransferMeter meter = MeterOf(options, sources);
  const TimestampMs now_ms =
      (plan.processing_clock != nullptr ? plan.processing_clock : SystemClock())
          ->NowMs();
  MAYFLY_ASSIGN_OR_RETURN(const auto loader,
                          ShardLoader::Create(unfinished, record));
  for (int i = 0; i < record.states_size(); ++i) {
    for (const auto& source : sources) {
      for (int s = 0; s < source->record().states_size(); ++s) {
        if (source->record().states(s).name() != record.states(i).name()) {
          continue;
        }
        MAYFLY_RETURN_IF_ERROR(LoadState(*source, s, plan, now_ms,
                                         static_cast<std::uint32_t>(i), *loader,
                                         meter));
      }
    }
  }
  MAYFLY_RETURN_IF_ERROR(loader->Finish(CommitOf(position, sources)));
  MAYFLY_RETURN_IF_ERROR(
      state_internal::RenameFile(unfinished.directory, target.directory,
                                 options.durability == Durability::kMachine));
  return meter.Finish();
}

}  // namespace mayfly
