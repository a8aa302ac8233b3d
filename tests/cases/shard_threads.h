// Shards on threads of their own, which share all that the shards of a job
// share: descriptors with their functions, a clock, and on RocksDB memory.
#pragma once

#include <cstdint>
#include <memory>

#include "mayfly/state/backend_options.h"

namespace mayfly::cases {

// Every shard writes keys 0 to 999, each with its own number, reads random ones
// and cleans up, while another thread moves the clock past their TTL. Expects
// that a read finds the number of its key or nothing.
void ExpectShardsToKeepTheirKeysApart(
    BackendKind kind, std::int64_t reads_per_shard,
    const std::shared_ptr<StorageResources>& storage);

}  // namespace mayfly::cases
