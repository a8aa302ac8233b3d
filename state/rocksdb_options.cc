#include "state/rocksdb_options.h"

#include <algorithm>
#include <cstdarg>
#include <memory>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "state/rocksdb_checkpoint.h"
#include "state/rocksdb_store.h"

namespace mayfly {

std::shared_ptr<StorageResources> StorageResources::Create(
    const Options& options) {
  return std::make_shared<state_internal::RocksdbResources>(options);
}

namespace state_internal {
namespace {

// RocksDB's own log writes through its table writer, which asserts that nobody
// goes on after an error: on a full disk the next line of it would abort the
// process. Errors reach us as statuses anyway.
class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

constexpr double kBloomBitsPerKey = 10;

// Small enough that a put finds its place in few cache misses: with 16 MiB it
// takes about two thirds of the time that it takes with 64.
constexpr std::size_t kWriteBufferBytes = std::size_t{16} << 20;

constexpr std::size_t kTargetFileBytes = std::size_t{32} << 20;

rocksdb::CompressionType Compression() {
  const std::vector<rocksdb::CompressionType> supported =
      rocksdb::GetSupportedCompressions();
  return std::find(supported.begin(), supported.end(),
                   rocksdb::kLZ4Compression) != supported.end()
             ? rocksdb::kLZ4Compression
             : rocksdb::kNoCompression;
}

}  // namespace

RocksdbResources::RocksdbResources(const Options& options)
    : block_cache_(rocksdb::NewLRUCache(options.memory_bytes)),
      // Charged to the cache, so that the two together keep to the bound.
      write_buffers_(std::make_shared<rocksdb::WriteBufferManager>(
          options.memory_bytes / 2, block_cache_)) {}

rocksdb::DBOptions DatabaseOptions(const RocksdbResources& resources) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.write_buffer_manager = resources.write_buffers();
  options.max_open_files = -1;
  options.max_background_jobs = 2;
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
    const RocksdbResources& resources, bool is_map) {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = kWriteBufferBytes;
  options.target_file_size_base = kTargetFileBytes;
  // Most reads that get here look for what is in the files.
  options.memtable_prefix_bloom_size_ratio = 0.1;
  options.memtable_whole_key_filtering = true;
  // A commit writes a state's keys in order, so the place of a key is near that
  // of the one before it: one hint for all.
  options.memtable_insert_with_hint_prefix_extractor.reset(
      rocksdb::NewCappedPrefixTransform(0));
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = Compression();
  // RocksDB's own TTL only moves files down a level; it removes nothing.
  options.ttl = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = resources.block_cache();
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (is_map) {
    // Walking a key's entries asks the prefix bloom first.
    options.prefix_extractor = MapKeyPrefix();
  }
  return options;
}

}  // namespace state_internal
}  // namespace mayfly
