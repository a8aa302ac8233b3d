// How we set RocksDB up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mayfly/state/backend_options.h"
#include "mayfly/state/rocksdb_options.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/write_buffer_manager.h"
#include "state/traffic_limiter.h"

namespace mayfly::state_internal {

// What databases share.
class RocksdbResources final : public StorageResources {
 public:
  // Range: options that Create() accepts, as the defaults are.
  explicit RocksdbResources(const Options& options = {});

  const std::shared_ptr<rocksdb::Cache>& block_cache() const {
    return block_cache_;
  }
  const std::shared_ptr<rocksdb::WriteBufferManager>& write_buffers() const {
    return write_buffers_;
  }
  const std::shared_ptr<TrafficLimiter>& rate_limiter() const {
    return rate_limiter_;
  }

  absl::Status SetBackgroundBytesPerSecond(std::uint64_t bytes) override;
  std::uint64_t background_bytes_per_second() const override;

 private:
  std::shared_ptr<rocksdb::Cache> block_cache_;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers_;
  std::shared_ptr<TrafficLimiter> rate_limiter_;
};

// Those that a backend is to use: its own if it is given none.
std::shared_ptr<RocksdbResources> ResourcesOf(const BackendOptions& options);

// What holds for a state, with every field set.
RocksdbStateOptions OptionsOf(const std::string& state,
                              const RocksdbOptions& options);

rocksdb::CompressionType ToRocksdb(Compression compression);

// Range: options that Validate() accepts.
rocksdb::DBOptions DatabaseOptions(const RocksdbResources& resources,
                                   const RocksdbOptions& options = {});

// Of a state's column family, before its TTL is set up.
// Range: options in which every field is set, by itself the defaults.
rocksdb::ColumnFamilyOptions StateFamilyOptions(
    const RocksdbResources& resources, bool is_map,
    const RocksdbStateOptions& state = OptionsOf("", {}));

}  // namespace mayfly::state_internal
