// Opens the state of one shard and hands out its states.
//
// MAYFLY_ASSIGN_OR_RETURN and MAYFLY_RETURN_IF_ERROR are those of
// mayfly/serde/status_macros.h: they end the function with an error, if there
// is one.
//
//   BackendOptions options;
//   options.directory = "/var/lib/delays/shard-0";
//   MAYFLY_ASSIGN_OR_RETURN(
//       auto backend, KeyedStateBackend<std::string>::Open(options));
//   MAYFLY_ASSIGN_OR_RETURN(ValueState<std::int64_t>* streak,
//                           backend->GetState(streak_descriptor));
//   backend->SetCurrentKey("DTW");
//   MAYFLY_RETURN_IF_ERROR(streak->Update(1));
//   MAYFLY_RETURN_IF_ERROR(backend->Commit());
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/aggregating_state.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/clean_up.h"
#include "mayfly/state/commit_progress.h"
#include "mayfly/state/disk_sweeper.h"
#include "mayfly/state/internal/aggregating_table.h"
#include "mayfly/state/internal/backend_core.h"
#include "mayfly/state/internal/key_type.h"
#include "mayfly/state/internal/list_table.h"
#include "mayfly/state/internal/map_table.h"
#include "mayfly/state/internal/reducing_table.h"
#include "mayfly/state/internal/value_table.h"
#include "mayfly/state/list_state.h"
#include "mayfly/state/map_state.h"
#include "mayfly/state/reducing_state.h"
#include "mayfly/state/rocksdb_options.h"
#include "mayfly/state/state_descriptor.h"
#include "mayfly/state/state_monitor.h"
#include "mayfly/state/state_statistics.h"
#include "mayfly/state/value_state.h"

namespace mayfly {

// The keyed state of one shard: its own database or memory, its own directory,
// its own time.
// Threads: one, with the states it hands out.
// Lifetime: owns its states. What is not committed when it goes is forgotten;
// a restart begins at the last commit.
template <Serializable K>
class KeyedStateBackend : state_internal::RequireKeyType<K> {
 public:
  // Opens the directory, or makes it, at its last commit.
  // Errors: kInvalidArgument for options out of range; kFailedPrecondition if
  // the directory is in use, or was written by the other backend or a newer
  // version; kDataLoss if it is damaged; kPermissionDenied, kResourceExhausted
  // and kUnavailable as the disk has it.
  static absl::StatusOr<std::unique_ptr<KeyedStateBackend>> Open(
      const BackendOptions& options) {
    MAYFLY_ASSIGN_OR_RETURN(std::unique_ptr<state_internal::BackendCore> core,
                            state_internal::BackendCore::Open(options));
    return std::unique_ptr<KeyedStateBackend>(
        new KeyedStateBackend(std::move(core)));
  }

  // Registers a state, or finds it if it is registered already. One that is
  // stored without a TTL and asked for with one, or the other way round, is
  // rewritten if its descriptor says AllowTtlMigration(); one of an older
  // version of its values' serializer, if that reads it. That takes as long as
  // reading and writing all of the state. With the next commit the rewritten
  // state takes the place of the old one.
  // Lifetime: of the result, this backend's.
  // Errors: kInvalidArgument for the name; kFailedPrecondition naming both
  // sides if the state is registered otherwise, and with the word
  // StateMigration if it is stored with another kind or serializer or TTL mode.
  // If it is to be rewritten: kCancelled as MigrationOptions has it; kDataLoss
  // for an entry that cannot be read; kResourceExhausted for a full disk;
  // kPermissionDenied and kUnavailable as the disk has it. What is stored is
  // then as it was.
  template <typename T>
  absl::StatusOr<ValueState<T>*> GetState(
      const ValueStateDescriptor<T>& descriptor) {
    return Get<state_internal::ValueTable<K, T>>(
        Spec<T>(state_internal::StateKind::kValue, descriptor));
  }

  // Errors: as above.
  template <typename T>
  absl::StatusOr<ListState<T>*> GetState(
      const ListStateDescriptor<T>& descriptor) {
    return Get<state_internal::ListTable<K, T>>(
        Spec<T>(state_internal::StateKind::kList, descriptor));
  }

  // Errors: as above.
  template <typename UK, typename UV>
  absl::StatusOr<MapState<UK, UV>*> GetState(
      const MapStateDescriptor<UK, UV>& descriptor) {
    state_internal::StateSpec spec =
        Spec<UV>(state_internal::StateKind::kMap, descriptor);
    spec.map_key_serializer = Serializer<UK>::Identity();
    return Get<state_internal::MapTable<K, UK, UV>>(spec);
  }

  // A state that is registered already keeps the function that it has.
  // Errors: as above, and kInvalidArgument if there is no function.
  template <typename T>
  absl::StatusOr<ReducingState<T>*> GetState(
      const ReducingStateDescriptor<T>& descriptor) {
    MAYFLY_RETURN_IF_ERROR(
        CheckFunctions(descriptor, descriptor.reduce() != nullptr));
    return Get<state_internal::ReducingTable<K, T>>(
        Spec<T>(state_internal::StateKind::kReducing, descriptor),
        descriptor.reduce());
  }

  // As above.
  // Errors: as above.
  template <typename In, typename Acc, typename Out>
  absl::StatusOr<AggregatingState<In, Out>*> GetState(
      const AggregatingStateDescriptor<In, Acc, Out>& descriptor) {
    const AggregateFunction<In, Acc, Out>& function = descriptor.function();
    MAYFLY_RETURN_IF_ERROR(
        CheckFunctions(descriptor, function.create_accumulator != nullptr &&
                                       function.add != nullptr &&
                                       function.get_result != nullptr));
    return Get<state_internal::AggregatingTable<K, In, Acc, Out>>(
        Spec<Acc>(state_internal::StateKind::kAggregating, descriptor),
        function);
  }

  // The key that the states act on from now on: call it for each record, also
  // if the key is the same. Ends the validity of what states returned, and
  // takes the steps of incremental clean-up that are due.
  void SetCurrentKey(const K& key) {
    ++current_.changes;
    // First: the key may be what a state has returned.
    current_.hash = state_internal::SegmentedMap<K, int>::HashOf(key);
    current_.key = key;
    core_->BeginRecord();
  }

  // Makes all changes since the last commit durable, together with `position`,
  // as one step: after a crash both are there or neither. Ends the validity of
  // what states returned.
  // Errors: kResourceExhausted for a full disk; kUnavailable if writing
  // failed. An error loses nothing: the changes are still pending.
  absl::Status Commit(std::string_view position) {
    ++current_.changes;
    return core_->Commit(position);
  }

  // The same where the position has not moved: it stays that of the last
  // commit.
  // Errors: as above.
  absl::Status Commit() {
    ++current_.changes;
    return core_->Commit(std::nullopt);
  }

  // The same in two halves, between which the states can be used. What changes
  // after the first is not in this commit and pending for the next. On heap the
  // first half is short whatever the size of the state, and SetCurrentKey()
  // goes on with the commit, a little at each record; on RocksDB it does all
  // there is to do, and no commit is under way after it. Whoever closes the
  // backend between the halves goes back to the commit before, as by a crash.
  //
  //   MAYFLY_RETURN_IF_ERROR(backend->BeginCommit(position));
  //   ...  // Records; and when there are none:
  //   if (backend->StepCommit() == CommitProgress::kReady) {
  //     MAYFLY_RETURN_IF_ERROR(backend->FinishCommit());
  //   }
  //
  // A commit that is under way already is finished first. Ends the validity of
  // what states returned.
  // Errors: as Commit(). If the commit under way fails, this one does not
  // begin.
  absl::Status BeginCommit(std::string_view position) {
    ++current_.changes;
    return core_->BeginCommit(position);
  }

  // The position stays that of the last commit, the one under way included.
  // Errors: as above.
  absl::Status BeginCommit() {
    ++current_.changes;
    return core_->BeginCommit(std::nullopt);
  }

  // Whether a commit is under way.
  bool committing() const { return core_->committing(); }

  // Goes on with the commit under way by some thousand entries, which takes
  // less than a millisecond if they are small. A list or a map is saved at one
  // go, however much is in it: a long one takes as long as putting all of it
  // into bytes, here or in the call that first changes it. kReady if none is
  // under way.
  CommitProgress StepCommit() { return core_->StepCommit(); }

  // Does all that is left of the commit under way and completes it; nothing if
  // none is under way.
  // Errors: as Commit(). The commit is given up then, and its changes are
  // pending.
  absl::Status FinishCommit() { return core_->FinishCommit(); }

  // Checks about `entries_max` entries of the states with a TTL, from where the
  // last call ended, and removes the expired: for when there is nothing else to
  // do, and for tests. A step is a part of a table, or a stretch of the
  // database, so that a few thousand more may be checked. On RocksDB what it
  // removes leaves the database with the next commit, and a list is rewritten
  // once at least half of it has expired. Ends the validity of what states
  // returned.
  // Errors: kUnavailable or kDataLoss if a state cannot be read; what was
  // removed before it, and of the other states, is removed.
  absl::StatusOr<CleanUpResult> CleanUp(
      std::uint64_t entries_max = std::numeric_limits<std::uint64_t>::max()) {
    ++current_.changes;
    return core_->CleanUp(entries_max, /*only_incremental=*/false);
  }

  // As CleanUp(), but only of the states whose incremental clean-up is on: as
  // asked for, or by default on heap. What a job calls when it is idle.
  // Errors: as CleanUp().
  absl::StatusOr<CleanUpResult> CleanUpInBackground(std::uint64_t entries_max) {
    ++current_.changes;
    return core_->CleanUp(entries_max, /*only_incremental=*/true);
  }

  // Whether the processing clock was so far ahead when it was last looked at
  // that somebody must have set it: states then hide what has expired by it,
  // and destroy nothing for that. A restart takes the clock at its word.
  bool clock_jumped() const { return core_->clock_jumped(); }

  // Whether enough changes wait that a commit should not be put off.
  bool commit_due() const { return core_->commit_due(); }

  // Whether there has been a complete commit, also in an earlier run; and the
  // position that it recorded, empty if none was ever given.
  bool has_commit() const { return core_->has_commit(); }
  const std::string& committed_position() const {
    return core_->committed_position();
  }

  // Moves event time forward; an earlier time than before changes nothing.
  void AdvanceWatermark(TimestampMs time_ms) {
    core_->AdvanceWatermark(time_ms);
  }
  TimestampMs watermark() const { return core_->watermark(); }

  // Counts the entries of each registered state: on RocksDB those of the last
  // commit, on heap those there are. Looks at `visits_max` stored keys of a
  // state at most and extrapolates from those. Returns what monitor() has then,
  // which is everything that is known of each stored state.
  // Errors: kUnavailable or kDataLoss if the store cannot be read.
  absl::StatusOr<std::vector<StateStatistics>> Statistics(
      std::uint64_t visits_max = std::numeric_limits<std::uint64_t>::max()) {
    return core_->Statistics(visits_max);
  }

  // Makes `directory` a copy of this shard as of the last commit, which a
  // backend can be opened on. It is not there until it is whole. Table files
  // become links if the file system is the same, so that on RocksDB this takes
  // milliseconds; nothing is flushed. What changed since the commit is not in
  // it, and goes on unharmed.
  // Errors: kFailedPrecondition if nothing has been committed, the backend has
  // no directory, or `directory` is there already; kResourceExhausted for a
  // full disk; kPermissionDenied and kUnavailable as the disk has it. Nothing
  // is left of what failed.
  absl::StatusOr<CheckpointFiles> Checkpoint(const std::string& directory) {
    return core_->Checkpoint(directory);
  }

  // What others may read of the states, on any thread. Counts nothing: have
  // this thread call Statistics() now and then for that.
  std::shared_ptr<const StateMonitor> monitor() const {
    return core_->monitor();
  }

  // Changes how RocksDB keeps the states, in place of what BackendOptions or
  // the last call gave: what is not named becomes the default. States that are
  // registered later follow it, too. Nothing is remembered over a restart.
  // Errors: kInvalidArgument for options out of range; kFailedPrecondition
  // naming state and field for what is fixed while the backend is open, and on
  // heap; nothing is changed then. kUnavailable if RocksDB cannot record it on
  // disk; call it again.
  absl::Status SetRocksdbOptions(const RocksdbOptions& options) {
    return core_->SetRocksdbOptions(options);
  }

  // The options as the open database has them, read back from it: in `states`
  // each open state, registered or not, with every field set.
  // Errors: kFailedPrecondition on heap.
  absl::StatusOr<RocksdbOptions> LiveRocksdbOptions() const {
    return core_->LiveRocksdbOptions();
  }

  // Compacts all that is committed, which removes what had expired at the last
  // commit. Takes as long as rewriting the database. Ends the validity of what
  // states returned. On heap it does nothing.
  // Errors: kUnavailable or kDataLoss if that fails.
  absl::Status Compact() {
    ++current_.changes;
    return core_->Compact();
  }

  // Makes expired bytes leave the disk, on any thread; null on heap, where
  // there are none. States that nobody has registered are swept too.
  std::shared_ptr<DiskSweeper> disk_sweeper() const {
    return core_->disk_sweeper();
  }

 private:
  explicit KeyedStateBackend(std::unique_ptr<state_internal::BackendCore> core)
      : core_(std::move(core)) {}

  template <typename T>
  static state_internal::StateSpec Spec(state_internal::StateKind kind,
                                        const StateDescriptor& descriptor) {
    return {.name = descriptor.name(),
            .kind = kind,
            .key_serializer = Serializer<K>::Identity(),
            .value_serializer = Serializer<T>::Identity(),
            .map_key_serializer = {},
            .ttl = descriptor.ttl(),
            .migration = state_internal::MigrationOf<T>(
                descriptor.ttl_migration_allowed())};
  }

  static absl::Status CheckFunctions(const StateDescriptor& descriptor,
                                     bool there) {
    if (there) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "state '" + descriptor.name() +
        "' lacks a function; give its descriptor all of them");
  }

  // Makes the table with `arguments` if the state is not registered yet.
  template <typename Table, typename... Arguments>
  absl::StatusOr<Table*> Get(const state_internal::StateSpec& spec,
                             const Arguments&... arguments) {
    MAYFLY_ASSIGN_OR_RETURN(state_internal::StateTable* const registered,
                            core_->FindTable(spec));
    if (registered != nullptr) {
      if (auto* const table = dynamic_cast<Table*>(registered)) return table;
      return absl::FailedPreconditionError(
          "state '" + spec.name +
          "' is registered with another C++ type of the same serializer; use "
          "one type for it");
    }
    MAYFLY_ASSIGN_OR_RETURN(state_internal::TableContext context,
                            core_->Register(spec));
    auto table =
        std::make_unique<Table>(std::move(context), &current_, arguments...);
    Table* const result = table.get();
    MAYFLY_RETURN_IF_ERROR(core_->Adopt(spec, std::move(table)));
    return result;
  }

  state_internal::CurrentKey<K> current_;
  std::unique_ptr<state_internal::BackendCore> core_;
};

}  // namespace mayfly
