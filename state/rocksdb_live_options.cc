#include "state/rocksdb_live_options.h"

#include <chrono>
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "state/rocksdb_options.h"
#include "state/rocksdb_status.h"

namespace mayfly::state_internal {
namespace {

using DeletionCollector = rocksdb::CompactOnDeletionCollectorFactory;

Compression CompressionOf(rocksdb::CompressionType compression) {
  switch (compression) {
    case rocksdb::kLZ4Compression:
      return Compression::kLz4;
    case rocksdb::kZSTD:
      return Compression::kZstd;
    default:
      return Compression::kNone;
  }
}

// RocksDB tells the bits of a filter only in the name that a configuration file
// would give it: "bloomfilter:10:false".
double BitsOf(const rocksdb::ColumnFamilyOptions& live) {
  const auto* const table =
      live.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy == nullptr) return 0;
  const std::vector<std::string> parts =
      absl::StrSplit(table->filter_policy->GetId(), ':');
  double bits = 0;
  return parts.size() > 1 && absl::SimpleAtod(parts[1], &bits) ? bits : 0;
}

// Null if the column family was opened without.
DeletionCollector* CollectorOf(const rocksdb::ColumnFamilyOptions& live) {
  for (const auto& factory : live.table_properties_collector_factories) {
    auto* const collector = dynamic_cast<DeletionCollector*>(factory.get());
    if (collector != nullptr) return collector;
  }
  return nullptr;
}

const char* NameOf(CompactionStyle style) {
  return style == CompactionStyle::kUniversal ? "universal" : "level";
}

template <typename Value>
absl::Status Fixed(const std::string& state, const char* field,
                   const Value& live, const Value& wanted) {
  return absl::FailedPreconditionError(absl::StrCat(
      "state '", state, "': ", field, " is ", live, " and cannot become ",
      wanted,
      " while the backend is open; give it in BackendOptions::rocksdb "
      "when it is opened next"));
}

}  // namespace

RocksdbStateOptions ReadStateOptions(rocksdb::DB& db,
                                     rocksdb::ColumnFamilyHandle* family) {
  const rocksdb::Options live = db.GetOptions(family);
  const DeletionCollector* const collector = CollectorOf(live);
  return {
      .compression = CompressionOf(live.compression),
      .bloom_bits_per_key = BitsOf(live),
      .write_buffer_bytes = live.write_buffer_size,
      .file_bytes = live.target_file_size_base,
      .compaction_style =
          live.compaction_style == rocksdb::kCompactionStyleUniversal
              ? CompactionStyle::kUniversal
              : CompactionStyle::kLevel,
      .deletion_trigger =
          collector == nullptr
              ? DeletionTrigger()
              : DeletionTrigger{.window = collector->GetWindowSize(),
                                .deletions = collector->GetDeletionTrigger()},
      .periodic_compaction =
          std::chrono::seconds(live.periodic_compaction_seconds)};
}

RocksdbOptions ReadDatabaseOptions(rocksdb::DB& db) {
  const rocksdb::DBOptions live = db.GetDBOptions();
  RocksdbOptions options;
  options.background_jobs = live.max_background_jobs;
  if (live.max_open_files >= 0) options.open_files_max = live.max_open_files;
  options.obsolete_files_period =
      std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::microseconds(live.delete_obsolete_files_period_micros));
  return options;
}

absl::Status CheckChangeable(const std::string& state,
                             const RocksdbStateOptions& live,
                             const RocksdbStateOptions& wanted) {
  // RocksDB keeps thousandths of a bit.
  const auto thousandths = [](double bits) {
    return std::llround(1000 * bits);
  };
  if (thousandths(*live.bloom_bits_per_key) !=
      thousandths(*wanted.bloom_bits_per_key)) {
    return Fixed(state, "bloom_bits_per_key", *live.bloom_bits_per_key,
                 *wanted.bloom_bits_per_key);
  }
  if (live.compaction_style != wanted.compaction_style) {
    return Fixed(state, "compaction_style", NameOf(*live.compaction_style),
                 NameOf(*wanted.compaction_style));
  }
  return absl::OkStatus();
}

absl::Status ChangeStateOptions(rocksdb::DB& db, const RocksdbFamily& family,
                                const std::string& state,
                                const RocksdbStateOptions& wanted) {
  const std::chrono::seconds period =
      wanted.periodic_compaction.value_or(family.ttl_period);
  std::string compression;
  rocksdb::GetStringFromCompressionType(&compression,
                                        ToRocksdb(*wanted.compression));
  const rocksdb::Status status = db.SetOptions(
      family.handle,
      {{"compression", compression},
       {"write_buffer_size", absl::StrCat(*wanted.write_buffer_bytes)},
       {"target_file_size_base", absl::StrCat(*wanted.file_bytes)},
       {"periodic_compaction_seconds", absl::StrCat(period.count())}});
  if (!status.ok()) {
    return FromRocksdb(
        status,
        absl::StrCat("cannot change the options of state '", state, "'"));
  }
  // Each file that is begun takes the two as they are then.
  if (DeletionCollector* const collector =
          CollectorOf(db.GetOptions(family.handle))) {
    collector->SetWindowSize(wanted.deletion_trigger->window);
    collector->SetDeletionTrigger(wanted.deletion_trigger->deletions);
  }
  return absl::OkStatus();
}

absl::Status ChangeDatabaseOptions(rocksdb::DB& db,
                                   const RocksdbOptions& wanted) {
  const auto period_us =
      std::chrono::microseconds(wanted.obsolete_files_period).count();
  return FromRocksdb(
      db.SetDBOptions(
          {{"max_background_jobs", absl::StrCat(wanted.background_jobs)},
           {"max_open_files", absl::StrCat(wanted.open_files_max.value_or(-1))},
           {"delete_obsolete_files_period_micros", absl::StrCat(period_us)}}),
      "cannot change the options of the database");
}

}  // namespace mayfly::state_internal
