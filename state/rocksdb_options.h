// How we set RocksDB up.
#pragma once

#include <memory>

#include "mayfly/state/backend_options.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/write_buffer_manager.h"

namespace mayfly::state_internal {

// The memory that databases share.
class RocksdbResources final : public StorageResources {
 public:
  explicit RocksdbResources(const Options& options);

  const std::shared_ptr<rocksdb::Cache>& block_cache() const {
    return block_cache_;
  }
  const std::shared_ptr<rocksdb::WriteBufferManager>& write_buffers() const {
    return write_buffers_;
  }

 private:
  std::shared_ptr<rocksdb::Cache> block_cache_;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers_;
};

rocksdb::DBOptions DatabaseOptions(const RocksdbResources& resources);

// Of a state's column family, before its TTL is set up.
rocksdb::ColumnFamilyOptions StateFamilyOptions(
    const RocksdbResources& resources, bool is_map);

}  // namespace mayfly::state_internal
