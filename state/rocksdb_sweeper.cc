#include "state/rocksdb_sweeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/compaction/file_expiry.h"
#include "mayfly/serde/status_macros.h"
#include "rocksdb/convenience.h"

namespace mayfly::state_internal {
namespace {

// `figure` of which the part that is `bytes` of a file's is asked for.
std::uint64_t PartOf(std::uint64_t figure, const FileTimes& times,
                     std::uint64_t bytes) {
  if (times.bytes() == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(figure) *
                                    static_cast<double>(bytes) /
                                    static_cast<double>(times.bytes()));
}

void Count(const FileExpiry& file, const PurgePoint& purge,
           const std::vector<TimestampMs>& expired_by_ms, StateDiskUse& use) {
  if (!file.times) {
    use.bytes_of_unknown_age += file.bytes;
    return;
  }
  const FileTimes& times = *file.times;
  const auto expired_at = [&](TimestampMs now_ms) {
    return times.BytesThrough(purge.rule.ExpiredThrough(now_ms));
  };
  // Entries are taken to be of one size; bytes on disk, to be compressed alike.
  const std::uint64_t expired = expired_at(purge.now_ms);
  use.entries += times.entries();
  use.expired_entries += PartOf(times.entries(), times, expired);
  use.expired_bytes += PartOf(file.bytes, times, expired);
  for (std::size_t i = 0; i < expired_by_ms.size(); ++i) {
    use.expired_bytes_by[i] +=
        PartOf(file.bytes, times, expired_at(expired_by_ms[i]));
  }
  use.oldest_ms =
      std::min(use.oldest_ms, times.oldest_ms().value_or(kNeverExpires));
}

// What can be told without the files.
void CountUnreadable(const std::string& name, const absl::Status& status,
                     rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family,
                     StateDiskUse& use) {
  rocksdb::ColumnFamilyMetaData metadata;
  db.GetColumnFamilyMetaData(family, &metadata);
  use.files = metadata.file_count;
  use.bytes = metadata.size;
  use.bytes_of_unknown_age = metadata.size;
  use.unreadable =
      absl::StrCat("state '", name, "': ", status.message(),
                   "; look at the disk, and restore an earlier checkpoint");
}

void AddCleanup(const CleanupCounters& counters, StateCleanup& cleanup) {
  const auto unsigned_of = [](std::int64_t count) {
    return static_cast<std::uint64_t>(count);
  };
  cleanup.compactions = {.entries = unsigned_of(counters.entries_expired),
                         .bytes = unsigned_of(counters.bytes_removed)};
  cleanup.merge_elements = unsigned_of(counters.merge_elements_expired);
  cleanup.records_unreadable =
      unsigned_of(counters.malformed + counters.too_large + counters.failures);
}

}  // namespace

void RocksdbSweeper::State::Stop() const {
  if (sweep != nullptr) sweep->Stop();
}

void RocksdbSweeper::State::Retire() {
  Stop();
  const std::lock_guard lock(use);
  retired = true;
}

void RocksdbSweeper::Add(const std::string& state, rocksdb::DB* db,
                         rocksdb::ColumnFamilyHandle* column_family,
                         std::shared_ptr<ColumnFamilyTtl> ttl) {
  std::unique_ptr<ExpirySweep> sweep;
  if (ttl != nullptr) {
    sweep = std::make_unique<ExpirySweep>(db, column_family, ttl);
  }
  std::shared_ptr<State> other(
      new State{db, column_family, std::move(ttl), std::move(sweep)});
  {
    const std::lock_guard lock(mutex_);
    states_[state].swap(other);
  }
  if (other != nullptr) other->Retire();
}

void RocksdbSweeper::Close() {
  States states;
  {
    const std::lock_guard lock(mutex_);
    states.swap(states_);
  }
  if (states.empty()) return;
  for (const auto& [name, state] : states) state->Stop();
  // Or a compaction would go on to its end.
  rocksdb::CancelAllBackgroundWork(states.begin()->second->db, /*wait=*/false);
  for (const auto& [name, state] : states) state->Retire();
}

RocksdbSweeper::States RocksdbSweeper::Open() const {
  const std::lock_guard lock(mutex_);
  return states_;
}

absl::StatusOr<SweepReport> RocksdbSweeper::Sweep(const SweepOptions& options,
                                                  TimestampMs now_ms) {
  const std::lock_guard sweeping(sweeping_);
  SweepReport total;
  absl::Status first_error;
  for (const auto& [name, state] : Open()) {
    const std::shared_lock lock(state->use);
    if (state->retired || state->sweep == nullptr) continue;
    const absl::StatusOr<SweepReport> report =
        state->sweep->Run(options, now_ms);
    if (report.ok()) {
      total += *report;
    } else {
      // The other states are swept all the same.
      first_error.Update(absl::Status(
          report.status().code(),
          absl::StrCat("state '", name, "': ", report.status().message())));
    }
  }
  MAYFLY_RETURN_IF_ERROR(first_error);
  return total;
}

void RocksdbSweeper::AddTo(
    const std::vector<TimestampMs>& expired_by_ms,
    std::map<std::string, StateStatistics>& states) const {
  for (const auto& [name, open] : Open()) {
    State& state = *open;
    const std::shared_lock lock(state.use);
    if (state.retired) continue;
    StateStatistics& statistics = states[name];
    statistics.state = name;
    StateDiskUse& use = statistics.disk;
    use.expired_bytes_by.assign(expired_by_ms.size(), 0);
    // A clock that cannot tell the time lets nothing expire.
    PurgePoint purge;
    if (state.ttl != nullptr) {
      purge = state.ttl->ReadPurgePoint().value_or(PurgePoint{});
      use.purge_clock_ms = purge.now_ms;
      AddCleanup(state.ttl->counters(), statistics.cleanup);
      statistics.cleanup.sweeps = state.sweep->totals();
    }
    const absl::StatusOr<std::vector<FileExpiry>> files =
        ListFileExpiry(*state.db, state.column_family);
    if (!files.ok()) {
      CountUnreadable(name, files.status(), *state.db, state.column_family,
                      use);
      continue;
    }
    for (const FileExpiry& file : *files) {
      ++use.files;
      use.bytes += file.bytes;
      if (state.ttl != nullptr) Count(file, purge, expired_by_ms, use);
    }
  }
}

}  // namespace mayfly::state_internal
