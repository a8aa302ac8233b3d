#include "state/rocksdb_options.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "state/rocksdb_checkpoint.h"
#include "state/rocksdb_store.h"

namespace mayfly {
namespace state_internal {
namespace {

absl::Status CheckBackgroundBytes(std::uint64_t bytes_per_second) {
  constexpr std::uint64_t kMin = 1'000;
  constexpr std::uint64_t kMax = 1'000'000'000'000;
  if (bytes_per_second == 0 ||
      (bytes_per_second >= kMin && bytes_per_second <= kMax)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "StorageResources: background_bytes_per_second is ", bytes_per_second,
      "; give 0 for no limit, or ", kMin, " to ", kMax));
}

// RocksDB's own log writes through its table writer, which asserts that nobody
// goes on after an error: on a full disk the next line of it would abort the
// process. Errors reach us as statuses anyway.
class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

RocksdbResources::RocksdbResources(const Options& options)
    : block_cache_(rocksdb::NewLRUCache(options.memory_bytes)),
      // Charged to the cache, so that the two together keep to the bound.
      write_buffers_(std::make_shared<rocksdb::WriteBufferManager>(
          options.memory_bytes / 2, block_cache_)),
      // There also without a limit, since one cannot be added to a database
      // that is open.
      rate_limiter_(std::make_shared<TrafficLimiter>()) {
  rate_limiter_->SetLimit(options.background_bytes_per_second);
}

absl::Status RocksdbResources::SetBackgroundBytesPerSecond(
    std::uint64_t bytes) {
  MAYFLY_RETURN_IF_ERROR(CheckBackgroundBytes(bytes));
  rate_limiter_->SetLimit(bytes);
  return absl::OkStatus();
}

std::uint64_t RocksdbResources::background_bytes_per_second() const {
  return rate_limiter_->limit();
}

std::shared_ptr<RocksdbResources> ResourcesOf(const BackendOptions& options) {
  if (options.storage == nullptr) return std::make_shared<RocksdbResources>();
  return std::static_pointer_cast<RocksdbResources>(options.storage);
}

rocksdb::DBOptions DatabaseOptions(const RocksdbResources& resources,
                                   const RocksdbOptions& wanted) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.write_buffer_manager = resources.write_buffers();
  options.rate_limiter = resources.rate_limiter();
  // As without a limiter, the rate of which RocksDB would take for it.
  options.delayed_write_rate = std::uint64_t{16} << 20;
  options.max_open_files = wanted.open_files_max.value_or(-1);
  options.max_background_jobs = wanted.background_jobs;
  // A thread for each file would be started at each opening.
  options.max_file_opening_threads = 1;
  options.delete_obsolete_files_period_micros = static_cast<std::uint64_t>(
      std::chrono::microseconds(wanted.obsolete_files_period).count());
  // A shard does not delete files while it reads.
  options.avoid_unnecessary_blocking_io = true;
  // One thread writes. RocksDB follows hints to where the memtable takes the
  // next key only then.
  options.allow_concurrent_memtable_write = false;
  // Nothing of RocksDB's own runs on a timer.
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = std::make_shared<NoLog>();
  options.file_checksum_gen_factory = Crc32cOfTableFiles();
  return options;
}

rocksdb::ColumnFamilyOptions StateFamilyOptions(
    const RocksdbResources& resources, bool is_map,
    const RocksdbStateOptions& state) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = *state.write_buffer_bytes;
  options.target_file_size_base = *state.file_bytes;
  options.compaction_style =
      *state.compaction_style == CompactionStyle::kUniversal
          ? rocksdb::kCompactionStyleUniversal
          : rocksdb::kCompactionStyleLevel;
  // Most reads that get here look for what is in the files.
  options.memtable_prefix_bloom_size_ratio = 0.1;
  options.memtable_whole_key_filtering = true;
  // A commit writes a state's keys in order, so the place of a key is near that
  // of the one before it: one hint for all.
  options.memtable_insert_with_hint_prefix_extractor.reset(
      rocksdb::NewCappedPrefixTransform(0));
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = ToRocksdb(*state.compression);
  // RocksDB's own TTL only moves files down a level; it removes nothing.
  options.ttl = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = resources.block_cache();
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  if (*state.bloom_bits_per_key > 0) {
    table.filter_policy.reset(
        rocksdb::NewBloomFilterPolicy(*state.bloom_bits_per_key));
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.periodic_compaction_seconds = static_cast<std::uint64_t>(
      state.periodic_compaction.value_or(std::chrono::seconds(0)).count());
  // There also while it is off, so that it can be turned on.
  options.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(
          state.deletion_trigger->window, state.deletion_trigger->deletions));
  if (is_map) {
    // Walking a key's entries asks the prefix bloom first.
    options.prefix_extractor = MapKeyPrefix();
  }
  return options;
}

}  // namespace state_internal

absl::StatusOr<std::shared_ptr<StorageResources>> StorageResources::Create(
    const Options& options) {
  // Half of less would be no bound for write buffers, or nearly none.
  constexpr std::size_t kMemoryBytesMin = std::size_t{1} << 20;
  if (options.memory_bytes < kMemoryBytesMin) {
    return absl::InvalidArgumentError(
        absl::StrCat("StorageResources: memory_bytes is ", options.memory_bytes,
                     "; give ", kMemoryBytesMin, " (1 MiB) or more"));
  }
  MAYFLY_RETURN_IF_ERROR(state_internal::CheckBackgroundBytes(
      options.background_bytes_per_second));
  return std::make_shared<state_internal::RocksdbResources>(options);
}

}  // namespace mayfly
