// Full compactions of states of which a part has expired, and flushes: with
// Mayfly's filter and the times that it has files record, without, and by
// RocksDB's DBWithTTL.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/must.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/temporary_directory.h"
#include "bench/micro/map_stores.h"
#include "bench/micro/registration.h"
#include "bench/micro/stored_states.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/clock.h"
#include "rocksdb/utilities/checkpoint.h"

namespace mayfly::bench {
namespace {

// What a contender does about entries that expire.
enum class Cleanup {
  kNone,
  // Files record when their entries were last accessed; nothing is removed.
  kFileTimes,
  // The same, and what has expired is removed: as a state under TTL.
  kFilter,
  kDbWithTtl,
};

PlainRocksdbOptions OptionsFor(const StoredState& state, Cleanup cleanup) {
  PlainRocksdbOptions options{.is_map = state.is_map(),
                              .write_ahead_log = false};
  if (cleanup == Cleanup::kDbWithTtl) options.ttl_seconds = kStoredTtlSeconds;
  if (cleanup == Cleanup::kFileTimes || cleanup == Cleanup::kFilter) {
    options.configure = [=](rocksdb::ColumnFamilyOptions* family) {
      ConfigureTtlColumnFamily(
          Must(ColumnFamilyTtl::Create(
              {.name = "state",
               .layout = state.layout(),
               .rule = {.ttl_ms = std::int64_t{kStoredTtlSeconds} * 1000}},
              SystemClock())),
          family);
      if (cleanup == Cleanup::kFileTimes) {
        family->compaction_filter_factory = nullptr;
      }
    };
  }
  return options;
}

StoredForm FormFor(Cleanup cleanup) {
  return cleanup == Cleanup::kDbWithTtl ? StoredForm::kDbWithTtl
                                        : StoredForm::kMayfly;
}

// A database at rest, of which each repetition compacts a copy.
class Original {
 public:
  Original(const StoredState& state, StoredForm form)
      : rocksdb_(OptionsFor(state, Cleanup::kNone)) {
    Store(state, form, rocksdb_);
    rocksdb_.Compact();
  }

  void CopyTo(const std::string& path) {
    rocksdb::Checkpoint* made = nullptr;
    Must(rocksdb::Checkpoint::Create(&rocksdb_.db(), &made));
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    Must(checkpoint->CreateCheckpoint(path));
  }

 private:
  PlainRocksdb rocksdb_;
};

class CompactionSubject final : public Subject {
 public:
  CompactionSubject(std::shared_ptr<Original> original,
                    const StoredState& state, Cleanup cleanup)
      : original_(std::move(original)), state_(state), cleanup_(cleanup) {}

  void Prepare(int /*repetition*/) override {
    copy_.reset();
    directory_ = std::make_unique<TemporaryDirectory>();
    PlainRocksdbOptions options = OptionsFor(state_, cleanup_);
    options.path = directory_->path() + "/db";
    original_->CopyTo(options.path);
    copy_ = std::make_unique<PlainRocksdb>(options);
  }

  std::uint64_t Run() override {
    copy_->Compact();
    return 0;
  }

  std::uint64_t CheckWritten() override {
    const StoredEntries left = LookThrough(state_, FormFor(cleanup_), *copy_);
    const bool removes =
        cleanup_ == Cleanup::kFilter || cleanup_ == Cleanup::kDbWithTtl;
    if (removes && left.expired > 0) Fail("what has expired was not removed");
    return left.live_checksum;
  }

 private:
  const std::shared_ptr<Original> original_;
  const StoredState state_;
  const Cleanup cleanup_;
  std::unique_ptr<TemporaryDirectory> directory_;
  std::unique_ptr<PlainRocksdb> copy_;
};

class FlushSubject final : public Subject {
 public:
  FlushSubject(const StoredState& state, Cleanup cleanup)
      : state_(state), cleanup_(cleanup) {}

  void Prepare(int /*repetition*/) override {
    PlainRocksdbOptions options = OptionsFor(state_, cleanup_);
    options.configure = [configure = options.configure](auto* family) {
      if (configure) configure(family);
      // All of it is flushed at once, when asked for.
      family->write_buffer_size = std::size_t{1} << 30;
    };
    rocksdb_ = std::make_unique<PlainRocksdb>(options);
    Store(state_, StoredForm::kMayfly, *rocksdb_);
  }

  std::uint64_t Run() override {
    Must(rocksdb_->db().Flush(rocksdb::FlushOptions()));
    return 0;
  }

  std::uint64_t CheckWritten() override {
    return LookThrough(state_, StoredForm::kMayfly, *rocksdb_).live_checksum;
  }

 private:
  const StoredState state_;
  const Cleanup cleanup_;
  std::unique_ptr<PlainRocksdb> rocksdb_;
};

// A state whose files record the times of their entries beside one whose files
// do not.
constexpr double kFileTimesTarget = 0.97;

struct Kind {
  StateKind kind;
  std::string name;
  // Of the filter, where nothing has expired.
  double target = 0;
};

void RegisterCompactionOf(const Registration& registration, const Kind& kind,
                          const StoredState& state) {
  // Made by the first contender with this form, shared by all.
  const auto made =
      std::make_shared<std::map<StoredForm, std::shared_ptr<Original>>>();
  const auto contender = [=](Cleanup cleanup) {
    return [=]() -> std::unique_ptr<Subject> {
      const StoredForm form = FormFor(cleanup);
      std::shared_ptr<Original>& original = (*made)[form];
      if (original == nullptr) {
        original = std::make_shared<Original>(state, form);
      }
      return std::make_unique<CompactionSubject>(original, state, cleanup);
    };
  };
  const bool has_expired = state.expired_percent > 0;
  Workload workload{
      .name = "compaction/" + kind.name + "/expired_" +
              std::to_string(state.expired_percent),
      .operations = state.records,
      .in_background = true,
      .contenders = {{"filter", contender(Cleanup::kFilter)},
                     {"no_filter", contender(Cleanup::kNone)}},
      // It also keeps what the filter removes, and has more to write.
      .comparisons = {{"filter", "no_filter", has_expired ? 0 : kind.target}}};
  if (!has_expired) {
    workload.contenders.push_back(
        {"file_times", contender(Cleanup::kFileTimes)});
    workload.comparisons.push_back(
        {"file_times", "no_filter", kFileTimesTarget});
  }
  if (!state.is_list()) {
    workload.contenders.push_back(
        {"db_with_ttl", contender(Cleanup::kDbWithTtl)});
    workload.comparisons.push_back({"filter", "db_with_ttl"});
  }
  RegisterWorkload(std::move(workload), registration);
}

void RegisterFlushOf(const Registration& registration, const Kind& kind,
                     const StoredState& state) {
  const auto contender = [=](Cleanup cleanup) {
    return [=]() -> std::unique_ptr<Subject> {
      return std::make_unique<FlushSubject>(state, cleanup);
    };
  };
  RegisterWorkload(
      {.name = "flush/" + kind.name,
       .operations = state.records,
       .in_background = true,
       .contenders = {{"file_times", contender(Cleanup::kFileTimes)},
                      {"none", contender(Cleanup::kNone)}},
       .comparisons = {{"file_times", "none", kFileTimesTarget}}},
      registration);
}

}  // namespace

void RegisterCompaction(const Registration& registration) {
  const std::vector<Kind> kinds = {
      {StateKind::kValues, "values", 0.97},
      {StateKind::kMapEntries, "map_entries", 0.97},
      {StateKind::kListsFixed, "lists_fixed", 0.95},
      {StateKind::kListsVariable, "lists_variable", 0.95}};
  for (const Kind& kind : kinds) {
    StoredState state{.kind = kind.kind, .records = registration.scale.keys};
    if (state.is_map()) state.records = registration.scale.maps * kEntriesOfMap;
    if (state.is_list()) state.records /= 4;
    for (const int percent : {0, 10, 50, 100}) {
      state.expired_percent = percent;
      RegisterCompactionOf(registration, kind, state);
    }
    // What fits in memory as it is.
    state.expired_percent = 0;
    state.records /= 10;
    RegisterFlushOf(registration, kind, state);
  }
}

}  // namespace mayfly::bench
