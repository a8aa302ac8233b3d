#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/internal/shard_clock.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_status.h"
#include "state/shard_loader.h"
#include "state/shard_record.h"
#include "state/sorted_files.h"
#include "state/state_database.h"

namespace mayfly::state_internal {
namespace {

// Entries of one state that have come so far, to be written in their order.
class SortBuffer {
 public:
  void Add(std::string_view key, std::string_view value) {
    entries_.push_back({bytes_.size(), key.size(), value.size()});
    bytes_.append(key).append(value);
  }

  bool empty() const { return entries_.empty(); }
  std::size_t memory() const {
    return bytes_.size() + entries_.size() * sizeof(Entry);
  }
  void Clear() {
    entries_.clear();
    bytes_.clear();
  }

  // Calls `visit(key, value)` in the order of the keys, until it fails.
  template <typename Visit>
  absl::Status VisitSorted(Visit visit) {
    const auto key = [this](const Entry& entry) {
      return std::string_view(bytes_).substr(entry.begin, entry.key_size);
    };
    // What comes from a database comes in order.
    if (!std::ranges::is_sorted(entries_, {}, key)) {
      std::ranges::sort(entries_, {}, key);
    }
    for (const Entry& entry : entries_) {
      MAYFLY_RETURN_IF_ERROR(visit(
          key(entry), std::string_view(bytes_).substr(
                          entry.begin + entry.key_size, entry.value_size)));
    }
    return absl::OkStatus();
  }

 private:
  struct Entry {
    std::size_t begin;
    std::size_t key_size;
    std::size_t value_size;
  };

  std::vector<Entry> entries_;
  std::string bytes_;
};

class RocksdbLoader final : public ShardLoader {
 public:
  RocksdbLoader(const BackendOptions& options, v1::ShardRecord record)
      : options_(options), record_(std::move(record)) {}

  absl::Status Open() {
    MAYFLY_RETURN_IF_ERROR(MakeDirectory(RunsPath()));
    // Nothing expires while it is being loaded.
    const auto clock = std::make_shared<CommittedClock>();
    MAYFLY_ASSIGN_OR_RETURN(
        database_,
        StateDatabase::Open({.shard_directory = options_.directory,
                             .resources = ResourcesOf(options_),
                             .options = options_.rocksdb,
                             .clocks = {.processing = clock, .event = clock}},
                            record_, StateDatabase::Access::kNew));
    for (const v1::StateRecord& state : record_.states()) {
      MAYFLY_RETURN_IF_ERROR(database_->Create(state));
      files_.push_back(std::make_unique<SortedFiles>(
          &database_->db(),
          database_->families().at(ColumnFamilyOf(state)).handle, RunsPath()));
    }
    return absl::OkStatus();
  }

  absl::Status Add(std::uint32_t state, std::string_view key,
                   std::string_view value) override {
    if (state != state_ || buffer_.memory() >= kRunBytes) {
      MAYFLY_RETURN_IF_ERROR(WriteRun());
    }
    state_ = state;
    buffer_.Add(key, value);
    return absl::OkStatus();
  }

  absl::Status Finish(const v1::CommitRecord& commit) override {
    MAYFLY_RETURN_IF_ERROR(WriteRun());
    for (const auto& files : files_) MAYFLY_RETURN_IF_ERROR(files->Ingest());
    files_.clear();
    v1::CommitRecord ours = commit;
    ours.clear_states();
    for (const v1::StateRecord& state : record_.states()) {
      ours.add_states(ColumnFamilyOf(state));
    }
    rocksdb::WriteOptions write_options;
    write_options.sync = sync();
    MAYFLY_RETURN_IF_ERROR(
        FromRocksdb(database_->db().Put(write_options, kCommitKey,
                                        ours.SerializeAsString()),
                    absl::StrCat("cannot fill '", options_.directory, "'")));
    MAYFLY_RETURN_IF_ERROR(database_->Close());
    MAYFLY_RETURN_IF_ERROR(RemoveAll(RunsPath()));
    return WriteShardRecord(options_.directory, record_, sync());
  }

 private:
  // As much is in memory at most.
  static constexpr std::size_t kRunBytes = std::size_t{64} << 20;

  bool sync() const { return options_.durability == Durability::kMachine; }
  std::string RunsPath() const { return options_.directory + "/loading"; }

  absl::Status WriteRun() {
    if (buffer_.empty()) return absl::OkStatus();
    SortedFiles& files = *files_.at(state_);
    MAYFLY_RETURN_IF_ERROR(
        buffer_.VisitSorted([&](std::string_view key, std::string_view value) {
          return files.Add(key, value);
        }));
    buffer_.Clear();
    return files.EndRun();
  }

  const BackendOptions options_;
  const v1::ShardRecord record_;
  std::unique_ptr<StateDatabase> database_;
  // Of each state in the record.
  std::vector<std::unique_ptr<SortedFiles>> files_;
  std::uint32_t state_ = 0;
  SortBuffer buffer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ShardLoader>> MakeRocksdbLoader(
    const BackendOptions& options, v1::ShardRecord record) {
  auto loader = std::make_unique<RocksdbLoader>(options, std::move(record));
  MAYFLY_RETURN_IF_ERROR(loader->Open());
  return loader;
}

}  // namespace mayfly::state_internal
