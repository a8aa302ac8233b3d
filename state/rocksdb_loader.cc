#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "mayfly/state/internal/shard_clock.h"
#include "rocksdb/sst_file_writer.h"
#include "state/rocksdb_family.h"
#include "state/rocksdb_layout.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"
#include "state/shard_loader.h"
#include "state/shard_record.h"

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

// Writes sorted table files and gives them to the database whole, which costs a
// fraction of putting the entries one by one.
class RocksdbLoader final : public ShardLoader {
 public:
  RocksdbLoader(const BackendOptions& options, v1::ShardRecord record)
      : options_(options),
        resources_(std::static_pointer_cast<RocksdbResources>(
            options.storage != nullptr ? options.storage
                                       : StorageResources::Create({}))),
        record_(std::move(record)),
        families_(static_cast<std::size_t>(record_.states_size())) {}

  ~RocksdbLoader() override { Close().IgnoreError(); }

  absl::Status Add(std::uint32_t state, std::string_view key,
                   std::string_view value) override {
    if (db_ == nullptr) MAYFLY_RETURN_IF_ERROR(Open());
    if (state != state_ || buffer_.memory() >= kRunBytes) {
      MAYFLY_RETURN_IF_ERROR(WriteRun());
    }
    state_ = state;
    buffer_.Add(key, value);
    return absl::OkStatus();
  }

  absl::Status Finish(const v1::CommitRecord& commit) override {
    if (db_ == nullptr) MAYFLY_RETURN_IF_ERROR(Open());
    MAYFLY_RETURN_IF_ERROR(WriteRun());
    v1::CommitRecord ours = commit;
    ours.clear_states();
    for (std::size_t i = 0; i < families_.size(); ++i) {
      MAYFLY_RETURN_IF_ERROR(Ingest(i));
      ours.add_states(StateOf(i).name());
    }
    rocksdb::WriteOptions write_options;
    write_options.sync = sync();
    MAYFLY_RETURN_IF_ERROR(
        Check(db_->Put(write_options, kCommitKey, ours.SerializeAsString())));
    MAYFLY_RETURN_IF_ERROR(Close());
    return WriteShardRecord(options_.directory, record_, sync());
  }

 private:
  struct LoadedFamily {
    RocksdbFamily family;
    rocksdb::ColumnFamilyOptions options;
    // Table files that wait for Finish().
    std::vector<std::string> runs;
  };

  // As much is in memory at most.
  static constexpr std::size_t kRunBytes = std::size_t{64} << 20;

  bool sync() const { return options_.durability == Durability::kMachine; }
  std::string RunsPath() const { return options_.directory + "/loading"; }
  const v1::StateRecord& StateOf(std::size_t i) const {
    return record_.states(static_cast<int>(i));
  }

  absl::Status Check(const rocksdb::Status& status) const {
    return FromRocksdb(status,
                       absl::StrCat("cannot fill '", options_.directory, "'"));
  }

  absl::Status Open() {
    MAYFLY_RETURN_IF_ERROR(MakeDirectory(RunsPath()));
    rocksdb::DB* db = nullptr;
    db_options_ = DatabaseOptions(*resources_, options_.rocksdb);
    db_options_.error_if_exists = true;
    MAYFLY_RETURN_IF_ERROR(Check(rocksdb::DB::Open(
        rocksdb::Options(db_options_,
                         StateFamilyOptions(*resources_, /*is_map=*/false)),
        DatabasePath(options_.directory), &db)));
    db_.reset(db);
    for (std::size_t i = 0; i < families_.size(); ++i) {
      LoadedFamily& loaded = families_[i];
      const v1::StateRecord& state = StateOf(i);
      loaded.options =
          StateFamilyOptions(*resources_, state.kind() == v1::STATE_KIND_MAP,
                             OptionsOf(state.name(), options_.rocksdb));
      // Nothing expires while it is being loaded.
      MAYFLY_RETURN_IF_ERROR(
          ConfigureCleanup(state, std::make_shared<CommittedClock>(),
                           loaded.family, loaded.options));
      MAYFLY_RETURN_IF_ERROR(Check(db_->CreateColumnFamily(
          loaded.options, state.name(), &loaded.family.handle)));
    }
    return absl::OkStatus();
  }

  // Writes what is in the buffer into a table file of its own.
  absl::Status WriteRun() {
    if (buffer_.empty()) return absl::OkStatus();
    LoadedFamily& loaded = families_[state_];
    const std::string path =
        absl::StrCat(RunsPath(), "/", state_, "-", loaded.runs.size(), ".sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(db_options_),
                                  rocksdb::Options(db_options_, loaded.options),
                                  loaded.family.handle,
                                  /*invalidate_page_cache=*/false);
    MAYFLY_RETURN_IF_ERROR(Check(writer.Open(path)));
    MAYFLY_RETURN_IF_ERROR(
        buffer_.VisitSorted([&](std::string_view key, std::string_view value) {
          return Check(writer.Put(ToSlice(key), ToSlice(value)));
        }));
    MAYFLY_RETURN_IF_ERROR(Check(writer.Finish()));
    loaded.runs.push_back(path);
    buffer_.Clear();
    return absl::OkStatus();
  }

  absl::Status Ingest(std::size_t i) {
    LoadedFamily& loaded = families_[i];
    if (loaded.runs.empty()) return absl::OkStatus();
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    return Check(
        db_->IngestExternalFile(loaded.family.handle, loaded.runs, ingest));
  }

  absl::Status Close() {
    if (db_ == nullptr) return absl::OkStatus();
    for (LoadedFamily& loaded : families_) {
      if (loaded.family.handle == nullptr) continue;
      MAYFLY_RETURN_IF_ERROR(
          Check(db_->DestroyColumnFamilyHandle(loaded.family.handle)));
      loaded.family.handle = nullptr;
    }
    MAYFLY_RETURN_IF_ERROR(Check(db_->Close()));
    db_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(RunsPath(), ignored);
    return absl::OkStatus();
  }

  const BackendOptions options_;
  const std::shared_ptr<RocksdbResources> resources_;
  const v1::ShardRecord record_;
  rocksdb::DBOptions db_options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<LoadedFamily> families_;
  std::uint32_t state_ = 0;
  SortBuffer buffer_;
};

}  // namespace

std::unique_ptr<ShardLoader> MakeRocksdbLoader(const BackendOptions& options,
                                               v1::ShardRecord record) {
  return std::make_unique<RocksdbLoader>(options, std::move(record));
}

}  // namespace mayfly::state_internal
