// What a backend does whatever the type of its keys: registering states, time,
// commits and restarts. KeyedStateBackend<K> is the typed front of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/checkpoint.h"
#include "mayfly/state/clean_up.h"
#include "mayfly/state/commit_progress.h"
#include "mayfly/state/disk_sweeper.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/internal/loan.h"
#include "mayfly/state/internal/shard_clock.h"
#include "mayfly/state/internal/state_spec.h"
#include "mayfly/state/internal/state_sweep.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/state/rocksdb_options.h"
#include "mayfly/state/state_monitor.h"
#include "mayfly/state/state_statistics.h"

namespace mayfly::v1 {
class CommitRecord;
class ShardRecord;
class StateRecord;
}  // namespace mayfly::v1

namespace mayfly::state_internal {

class EntryMigration;
class ShardMonitor;

// Threads: one.
class BackendCore {
 public:
  // Opens or makes what lies in the directory and reads its last commit.
  // Errors: kInvalidArgument for options out of range; kFailedPrecondition if
  // the directory is in use, or was written by the other backend or a newer
  // version; kDataLoss if it is damaged; kPermissionDenied, kResourceExhausted
  // and kUnavailable as the disk has it.
  static absl::StatusOr<std::unique_ptr<BackendCore>> Open(
      const BackendOptions& options);

  virtual ~BackendCore();

  // The table registered under this name; null if there is none.
  // Errors: kFailedPrecondition if it was registered with another spec.
  absl::StatusOr<StateTable*> FindTable(const StateSpec& spec) const;

  // What to make the table of a new registration with. Entries that are stored
  // otherwise are rewritten, here or by Adopt().
  // Errors: kInvalidArgument for the name; kFailedPrecondition if what is
  // stored under it does not fit; kCancelled, kDataLoss and as the disk has it
  // if rewriting ends early.
  absl::StatusOr<TableContext> Register(const StateSpec& spec);

  // Takes the table made for the last registration and gives it the entries
  // that were restored.
  // Errors: kDataLoss if they do not decode; kCancelled.
  absl::Status Adopt(const StateSpec& spec, std::unique_ptr<StateTable> table);

  // Makes all changes since the last commit durable, as one step. nullopt keeps
  // the position of the commit before.
  // Errors: kResourceExhausted for a full disk; kUnavailable if writing
  // failed. Nothing is lost by an error: the changes are still pending.
  absl::Status Commit(std::optional<std::string_view> position);

  // The same in parts. What changes from here on is not in the commit.
  // Errors: as Commit(), of this one or of one under way, which is finished
  // first; this one has not begun then.
  absl::Status BeginCommit(std::optional<std::string_view> position);

  // Whether a commit is under way.
  bool committing() const { return next_commit_ != nullptr; }

  // Does a part of the commit under way; kReady if there is none.
  CommitProgress StepCommit();

  // Completes the commit under way, if there is one.
  // Errors: as Commit().
  absl::Status FinishCommit();

  // What the last complete commit was given; empty before the first one.
  const std::string& committed_position() const;
  bool has_commit() const;

  void AdvanceWatermark(TimestampMs time_ms) {
    event_clock_.AdvanceTo(time_ms);
  }
  TimestampMs watermark() const { return event_clock_.trusted_ms(); }

  // Whether the processing clock was far ahead when it was last looked at.
  bool clock_jumped() const { return processing_clock_.jumped(); }

  bool commit_due() const { return memory_.changed * 2 > memory_.limit; }

  // Does what is due between two records: evicts if the tables outgrew their
  // bound, goes on with a commit under way, and takes the steps of incremental
  // clean-up that the accesses so far are worth. Invalidates what reads
  // returned.
  void BeginRecord() {
    if (memory_.used > evict_above_) Evict();
    if (committing()) [[unlikely]]
      PayForWrite();
    for (State* const state : incremental_) {
      state->table->AddChecksDue(state->checks_per_record);
      if (state->table->checks_due() >= state->checks_wanted) {
        PayChecks(*state);
      }
    }
    RecallAll();
  }

  // Ends what the states have lent.
  void RecallAll() {
    if constexpr (kCheckLifetimes) {
      for (auto& [name, state] : states_) state.table->Recall();
    }
  }

  // Checks about `entries_max` entries, from where the last call ended, and
  // removes the expired; of all states with a TTL, or only of those whose
  // incremental clean-up is on.
  // Errors: kUnavailable or kDataLoss if the store cannot be read.
  absl::StatusOr<CleanUpResult> CleanUp(std::uint64_t entries_max,
                                        bool only_incremental);

  // See KeyedStateBackend::Checkpoint().
  absl::StatusOr<CheckpointFiles> Checkpoint(const std::string& directory);

  // Counts entries, looking at `visits_max` stored keys of a state at most.
  // Errors: kUnavailable or kDataLoss if the store cannot be read.
  absl::StatusOr<std::vector<StateStatistics>> Statistics(
      std::uint64_t visits_max);

  // Compacts everything that is stored, and forgets what of it was in a table.
  // Errors: kUnavailable or kDataLoss if that fails.
  absl::Status Compact();

  // Null on heap.
  virtual std::shared_ptr<DiskSweeper> disk_sweeper() const { return nullptr; }

  std::shared_ptr<const StateMonitor> monitor() const;

  // Changes the options of a database that is open.
  // Errors: kInvalidArgument for options out of range; kFailedPrecondition for
  // what is fixed while it is open, and on heap; kUnavailable if RocksDB cannot
  // record it.
  virtual absl::Status SetRocksdbOptions(const RocksdbOptions& wanted);

  // The options as the open database has them.
  // Errors: kFailedPrecondition on heap.
  virtual absl::StatusOr<RocksdbOptions> LiveRocksdbOptions() const;

 protected:
  BackendCore(const BackendOptions& options, DirectoryLock lock);

  struct State {
    StateSpec spec;
    std::unique_ptr<StateTable> table;
    // Null without TTL.
    std::unique_ptr<StateSweep> sweep = nullptr;
    std::int64_t checks_per_record = 0;
    // Checks due at which the next step of clean-up is worth a look.
    std::int64_t checks_wanted = 0;
    // The segment that eviction looks at next, modulo their number.
    std::size_t eviction_cursor = 0;
  };

  // Reads the record of the directory and the last commit. Called once, by
  // Open().
  virtual absl::Status Recover() = 0;

  // Prepares the store of a state that will be recorded as `record`; null if
  // the backend has no store. What is stored goes through `migration` first, if
  // that is not null; the record then says where it is.
  virtual absl::StatusOr<ByteStore*> OpenStore(const StateSpec& spec,
                                               v1::StateRecord& record,
                                               EntryMigration* migration) = 0;

  // Gives a new table the entries restored for it; on heap they go through
  // `migration` first, if that is not null.
  virtual absl::Status Restore(StateTable& table,
                               EntryMigration* migration) = 0;

  // Makes the directory's record on disk what record() is.
  virtual absl::Status SaveRecord() = 0;

  // Begins to make the changes of all tables and `commit` durable, as one step.
  // If it is_writing() afterwards the tables may change meanwhile, and what
  // changes is not part of it; else only FinishWrite() is left.
  virtual absl::Status BeginWrite(v1::CommitRecord& commit) = 0;
  virtual bool is_writing() const { return false; }

  // Does what one more record pays for; one step.
  virtual void PayForWrite() {}
  virtual void StepWrite() {}

  virtual CommitProgress progress() const { return CommitProgress::kReady; }

  // Does what is left of what has begun. After an error it is as if it had not.
  virtual absl::Status FinishWrite() { return absl::OkStatus(); }

  // Errors: kUnavailable or kDataLoss if that fails.
  virtual absl::Status CompactStored() = 0;

  // Copies what the directory holds beside its record, as of the last commit.
  virtual absl::Status CopyStored(const std::string& to) = 0;

  // Checksums of files that never change, by their paths in the directory.
  virtual absl::StatusOr<std::map<std::string, std::uint32_t>> KnownChecksums()
      const {
    return std::map<std::string, std::uint32_t>();
  }

  // Visits stored records of a state, about `visits_max` at most; returns the
  // estimate of how many there are in all, the number visited if that was all.
  virtual absl::StatusOr<std::uint64_t> VisitStored(
      const StateTable& table, std::uint64_t visits_max,
      const EntryVisitor& visit) = 0;

  // Has the record say that there has been a commit. What is committed stays so
  // if that fails; the next commit tries again.
  void NoteCommitted();

  const BackendOptions& options() const { return options_; }
  v1::ShardRecord& record() { return *record_; }
  v1::CommitRecord& last_commit() { return *last_commit_; }
  std::map<std::string, State>& states() { return states_; }
  std::shared_ptr<const TtlClock> purge_clock(TimeCharacteristic time) const;
  ShardMonitor& shard_monitor() { return *monitor_; }

 private:
  v1::StateRecord* FindRecord(const std::string& name);
  absl::StatusOr<std::unique_ptr<EntryMigration>> MigrationTo(
      const StateSpec& spec, const v1::StateRecord& stored,
      const v1::StateRecord& wanted);
  absl::Status CheckNothingLost() const;
  void SetPurgeClocks();
  void Evict();
  std::optional<IncrementalCleanup> IncrementalCleanupOf(
      const StateSpec& spec) const;
  void PayChecks(State& state);
  // Takes a step of incremental clean-up.
  // Errors: kUnavailable or kDataLoss if the store cannot be read.
  static absl::StatusOr<SweepCounts> Step(const State& state);

  const BackendOptions options_;
  DirectoryLock lock_;
  std::unique_ptr<v1::ShardRecord> record_;
  std::unique_ptr<v1::CommitRecord> last_commit_;
  // Null if no commit is under way.
  std::unique_ptr<v1::CommitRecord> next_commit_;
  std::map<std::string, State> states_;
  // What Register() found out for Adopt(): how the state is to be recorded, and
  // what its entries go through; null if they fit.
  std::unique_ptr<v1::StateRecord> registering_;
  std::unique_ptr<EntryMigration> migration_;
  // Those of which entries are checked for each access.
  std::vector<State*> incremental_;
  // What is left of a round of CleanUp(): of all states, and of those above.
  std::vector<State*> round_;
  std::vector<State*> incremental_round_;
  TableMemory memory_;
  // The bound; above it after an eviction that found too little to evict, so
  // that a table full of changes is not searched again and again.
  std::size_t evict_above_;
  ShardClock processing_clock_;
  ShardClock event_clock_{nullptr, ClockReading::kExact};
  const std::shared_ptr<ShardMonitor> monitor_;
  const std::shared_ptr<CommittedClock> purge_processing_ =
      std::make_shared<CommittedClock>();
  const std::shared_ptr<CommittedClock> purge_event_ =
      std::make_shared<CommittedClock>();
};

}  // namespace mayfly::state_internal
