// A compaction that looks for expired entries and finds none, beside the same
// compaction without a filter.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "bench/harness/keys.h"
#include "bench/harness/must.h"
#include "bench/harness/payload.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/temporary_directory.h"
#include "bench/micro/map_stores.h"
#include "bench/micro/registration.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/state/backend_options.h"
#include "rocksdb/utilities/checkpoint.h"

namespace mayfly::bench {
namespace {

// Puts all entries of a state, in the order of their keys.
using Load = std::function<void(rocksdb::DB& db)>;

// A database at rest, of which each repetition compacts a copy.
class Original {
 public:
  Original(bool is_map, const Load& load)
      : rocksdb_({.is_map = is_map, .write_ahead_log = false}) {
    load(rocksdb_.db());
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
  // Without a layout there is no filter.
  CompactionSubject(std::shared_ptr<Original> original, bool is_map,
                    EntryLayout layout)
      : original_(std::move(original)), is_map_(is_map), layout_(layout) {}

  void Prepare(int /*repetition*/) override {
    copy_.reset();
    directory_ = std::make_unique<TemporaryDirectory>();
    const std::string path = directory_->path() + "/db";
    original_->CopyTo(path);
    copy_ = std::make_unique<PlainRocksdb>(PlainRocksdbOptions{
        .is_map = is_map_, .path = path, .configure = [this](auto* options) {
          if (layout_ == EntryLayout::kDisabled) return;
          ConfigureTtlColumnFamily(
              Must(ColumnFamilyTtl::Create({.name = "state",
                                            .layout = layout_,
                                            .rule = {.ttl_ms = kTtlMs}},
                                           SystemClock())),
              options);
        }});
  }

  std::uint64_t Run() override {
    copy_->Compact();
    return 0;
  }

  std::uint64_t CheckWritten() override {
    std::uint64_t checksum = 0;
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> entry(
        copy_->db().NewIterator(options));
    for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
      checksum += Checksum(entry->key().ToStringView()) +
                  Checksum(entry->value().ToStringView());
    }
    Must(entry->status());
    return checksum;
  }

 private:
  static constexpr std::int64_t kTtlMs = 24 * 3'600'000;

  const std::shared_ptr<Original> original_;
  const bool is_map_;
  const EntryLayout layout_;
  std::unique_ptr<TemporaryDirectory> directory_;
  std::unique_ptr<PlainRocksdb> copy_;
};

struct State {
  std::string name;
  std::size_t entries = 0;
  bool is_map = false;
  EntryLayout layout = EntryLayout::kValue;
  double target = 0;
};

void RegisterState(const Registration& registration, const State& state,
                   const Load& load) {
  // Made by the first contender, shared by both.
  const auto original = std::make_shared<std::shared_ptr<Original>>();
  const auto contender = [=](EntryLayout layout) {
    return [=]() -> std::unique_ptr<Subject> {
      if (*original == nullptr) {
        *original = std::make_shared<Original>(state.is_map, load);
      }
      return std::make_unique<CompactionSubject>(*original, state.is_map,
                                                 layout);
    };
  };
  RegisterWorkload(
      {.name = "compaction/" + state.name,
       .operations = state.entries,
       .in_background = true,
       .contenders = {{"filter", contender(state.layout)},
                      {"no_filter", contender(EntryLayout::kDisabled)}},
       .comparisons = {{"filter", "no_filter", state.target}}},
      registration);
}

// Stamps that are as they would be in a job that runs.
TimestampMs Now() { return SystemClock()->NowMs(); }

void PutEntry(rocksdb::DB& db, const std::string& key, std::uint64_t i) {
  constexpr std::size_t kValueBytes = 100;
  std::string entry;
  AppendTimestamp(Now(), entry);
  entry += Value<std::string>(i, kValueBytes);
  Must(db.Put({}, key, entry));
}

Load Values(std::size_t count) {
  return [=](rocksdb::DB& db) {
    for (const auto& [key, i] : SortedKeys<std::string>(count)) {
      PutEntry(db, key, i);
    }
  };
}

Load Maps(std::size_t count) {
  return [=](rocksdb::DB& db) {
    for (const auto& [key, map] : SortedKeys<std::string>(count)) {
      for (std::uint64_t entry = 0; entry < kEntriesOfMap; ++entry) {
        std::string map_key;
        Serializer<std::uint64_t>::Serialize(entry, map_key);
        std::string stored_key;
        AppendMapKey(key, map_key, stored_key);
        PutEntry(db, stored_key, map * kEntriesOfMap + entry);
      }
    }
  };
}

// Lists of ten elements of 24 bytes, or of 8 to 40.
Load Lists(std::size_t count, bool variable) {
  return [=](rocksdb::DB& db) {
    constexpr std::uint64_t kElements = 10;
    for (const auto& [key, list] : SortedKeys<std::string>(count)) {
      std::string elements;
      for (std::uint64_t i = 0; i < kElements; ++i) {
        const std::size_t bytes = variable ? 8 + Scatter(list + i) % 33 : 24;
        AppendListElement(Now(), Value<std::string>(list + i, bytes), elements);
      }
      Must(db.Put({}, key, elements));
    }
  };
}

}  // namespace

void RegisterCompaction(const Registration& registration) {
  const std::size_t entries = registration.scale.keys;
  const std::size_t maps = registration.scale.maps;
  const std::size_t lists = entries / 4;
  RegisterState(registration,
                {.name = "values", .entries = entries, .target = 0.97},
                Values(entries));
  RegisterState(registration,
                {.name = "map_entries",
                 .entries = maps * kEntriesOfMap,
                 .is_map = true,
                 .target = 0.97},
                Maps(maps));
  for (const bool variable : {false, true}) {
    RegisterState(registration,
                  {.name = variable ? "lists_variable" : "lists_fixed",
                   .entries = lists,
                   .layout = EntryLayout::kList,
                   .target = 0.95},
                  Lists(lists, variable));
  }
}

}  // namespace mayfly::bench
