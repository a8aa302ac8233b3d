#include "state/heap_backend.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_copy.h"
#include "mayfly/v1/state.pb.h"
#include "state/entry_migration.h"
#include "state/heap_commit.h"
#include "state/shard_record.h"
#include "state/snapshot_file.h"
#include "state/writer_thread.h"

namespace mayfly::state_internal {
namespace {

// A file that stays while this does, whatever becomes of its name; null if
// there is none.
std::shared_ptr<const int> Hold(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  return {new int(fd), [](const int* held) {
            ::close(*held);
            delete held;
          }};
}

class HeapBackend final : public BackendCore {
 public:
  HeapBackend(const BackendOptions& options, DirectoryLock lock)
      : BackendCore(options, std::move(lock)) {}

  absl::Status Recover() override {
    if (!persistent()) return absl::OkStatus();
    MAYFLY_ASSIGN_OR_RETURN(
        const bool has_record,
        ReadShardRecord(options().directory, v1::BACKEND_KIND_HEAP, record()));
    absl::StatusOr<SnapshotReader> snapshot =
        SnapshotReader::Open(SnapshotPath());
    if (absl::IsNotFound(snapshot.status())) {
      // The directory's own record only says whose it is; the states are in
      // the snapshot, as of its commit.
      return has_record ? absl::OkStatus() : SaveRecord();
    }
    if (!snapshot.ok()) return snapshot.status();
    if (!has_record) return MissingShardRecord(options().directory);
    MAYFLY_RETURN_IF_ERROR(snapshot->Verify());
    MAYFLY_RETURN_IF_ERROR(CheckShardRecord(
        snapshot->record(), v1::BACKEND_KIND_HEAP, SnapshotPath()));
    record() = snapshot->record();
    last_commit() = snapshot->commit();
    snapshot_ = *std::move(snapshot);
    return absl::OkStatus();
  }

  absl::StatusOr<ByteStore*> OpenStore(const StateSpec&, v1::StateRecord&,
                                       EntryMigration*) override {
    return nullptr;
  }

  absl::Status Restore(StateTable& table, EntryMigration* migration) override {
    const std::optional<std::uint32_t> index = IndexOf(table);
    if (!snapshot_ || !index) return absl::OkStatus();
    const v1::SnapshotState& stored =
        snapshot_->footer().states(static_cast<int>(*index));
    if (migration != nullptr) migration->ExpectKeys(stored.entries());
    const auto load = [&](std::string_view key,
                          std::string_view value) -> absl::Status {
      if (migration == nullptr) return table.Load(key, value);
      MAYFLY_ASSIGN_OR_RETURN(const auto left, migration->Apply(key, value));
      return left ? table.Load(key, *left) : absl::OkStatus();
    };
    absl::Status loaded;
    for (int block = 0; block < stored.blocks_size() && loaded.ok(); ++block) {
      MAYFLY_RETURN_IF_ERROR(snapshot_->VisitBlock(
          *index, block, [&](std::string_view key, std::string_view value) {
            if (loaded.ok()) loaded = load(key, value);
          }));
    }
    if (loaded.ok() && migration != nullptr) migration->Finish();
    return loaded;
  }

  absl::Status SaveRecord() override {
    return WriteShardRecord(options().directory, record(), sync());
  }

  absl::Status BeginWrite(v1::CommitRecord& commit) override {
    if (!persistent()) return absl::OkStatus();
    CommitContents contents{.record = record(),
                            .commit = commit,
                            .states = {},
                            .carried = {},
                            .snapshot = snapshot_ ? &*snapshot_ : nullptr};
    for (int i = 0; i < record().states_size(); ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      const auto state = states().find(record().states(i).name());
      if (state == states().end()) {
        // Restored and not registered.
        contents.carried.push_back(index);
      } else {
        contents.states.push_back(
            {index, &state->second.spec, state->second.table.get()});
      }
    }
    MAYFLY_ASSIGN_OR_RETURN(
        commit_,
        HeapCommit::Begin(SnapshotPath(), std::move(contents), sync()));
    entries_due_ = 0;
    return absl::OkStatus();
  }

  bool is_writing() const override { return commit_ != nullptr; }

  void PayForWrite() override {
    entries_due_ += kEntriesPerRecord;
    const auto cost = static_cast<std::int64_t>(commit_->NextCost());
    if (entries_due_ < cost) return;
    // What was written beyond is paid for before the next step.
    const auto written = static_cast<std::int64_t>(commit_->Step());
    entries_due_ -= std::max(cost, written);
  }

  void StepWrite() override { commit_->Step(); }

  CommitProgress progress() const override { return commit_->progress(); }

  absl::Status FinishWrite() override {
    if (commit_ == nullptr) return absl::OkStatus();
    const std::unique_ptr<HeapCommit> commit = std::move(commit_);
    snapshot_crc32c_.reset();
    std::shared_ptr<const int> old = Hold(SnapshotPath());
    MAYFLY_RETURN_IF_ERROR(commit->Finish());
    LetGo(std::move(old));
    snapshot_crc32c_ = commit->crc32c();
    MAYFLY_RETURN_IF_ERROR(FollowSnapshot());
    NoteCommitted();
    return absl::OkStatus();
  }

  absl::StatusOr<std::uint64_t> VisitStored(
      const StateTable& table, std::uint64_t visits_max,
      const EntryVisitor& visit) override {
    std::uint64_t visited = 0;
    const std::size_t segments = table.segment_count();
    for (std::size_t s = 0; s < segments; ++s) {
      if (s > 0 && visited >= visits_max) return visited * segments / s;
      table.VisitSegment(s, [&](std::string_view key, std::string_view value) {
        visit(key, value);
        ++visited;
      });
    }
    return visited;
  }

  absl::Status CompactStored() override { return absl::OkStatus(); }

  // Commits put a new file in the place of the old one and never change it.
  absl::Status CopyStored(const std::string& to) override {
    const std::string copy = to + "/snapshot";
    MAYFLY_ASSIGN_OR_RETURN(const bool linked, LinkFile(SnapshotPath(), copy));
    if (linked) return absl::OkStatus();
    return CopyFile(SnapshotPath(), copy, sync()).status();
  }

  // So that a checkpoint need not read what a commit has just written.
  absl::StatusOr<std::map<std::string, std::uint32_t>> KnownChecksums()
      const override {
    std::map<std::string, std::uint32_t> known;
    if (snapshot_crc32c_) known["snapshot"] = *snapshot_crc32c_;
    return known;
  }

 private:
  bool persistent() const { return !options().directory.empty(); }
  bool sync() const { return options().durability == Durability::kMachine; }

  std::string SnapshotPath() const { return options().directory + "/snapshot"; }

  std::optional<std::uint32_t> IndexOf(const StateTable& table) {
    const v1::ShardRecord& recorded =
        snapshot_ ? snapshot_->record() : record();
    for (int i = 0; i < recorded.states_size(); ++i) {
      if (recorded.states(i).name() == table.context().state_name) {
        return static_cast<std::uint32_t>(i);
      }
    }
    return std::nullopt;
  }

  // Whoever lets go of a file last has its room given back, which takes a tenth
  // of a second if it is large: not the shard.
  void LetGo(std::shared_ptr<const int> file) {
    if (file == nullptr) return;
    if (letting_go_ == nullptr) letting_go_ = std::make_unique<WriterThread>();
    letting_go_->Add(0, [file = std::move(file)] {});
  }

  // While there are states that nobody registered, they are carried over from
  // commit to commit, and may still be registered; then from the new file.
  absl::Status FollowSnapshot() {
    const auto registered = [this](const v1::StateRecord& state) {
      return states().contains(state.name());
    };
    snapshot_.reset();
    if (std::ranges::all_of(record().states(), registered)) {
      return absl::OkStatus();
    }
    MAYFLY_ASSIGN_OR_RETURN(snapshot_, SnapshotReader::Open(SnapshotPath()));
    return absl::OkStatus();
  }

  // What a commit under way writes for each record, so that it is done before
  // many records more have come than there are entries.
  static constexpr std::int64_t kEntriesPerRecord = 16;

  // What is not registered yet is read from here.
  std::optional<SnapshotReader> snapshot_;
  // Null if none is under way.
  std::unique_ptr<HeapCommit> commit_;
  // Entries that the records so far have paid for; below 0 if a step has
  // written more than that.
  std::int64_t entries_due_ = 0;
  // Null until there is something to let go of.
  std::unique_ptr<WriterThread> letting_go_;
  // Of the file that the last commit has put in place; nullopt: nobody has
  // looked.
  std::optional<std::uint32_t> snapshot_crc32c_;
};

}  // namespace

std::unique_ptr<BackendCore> MakeHeapBackend(const BackendOptions& options,
                                             DirectoryLock lock) {
  return std::make_unique<HeapBackend>(options, std::move(lock));
}

}  // namespace mayfly::state_internal
