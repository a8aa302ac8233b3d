// Where a key lives: the partition or shard that Kafka clients would choose.
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly {

// The hash that Kafka clients place keys by, seed 0x9747b28c.
// Source: Kafka Utils.murmur2.
std::uint32_t Murmur2(std::string_view bytes);

// The partition of a key, from 0 up to partitions - 1. Programs that agree on
// the bytes of keys and on the number of partitions agree on this.
// Range: `partitions` >= 1; anything else aborts.
// Source: Kafka BuiltInPartitioner.partitionForKey.
int PartitionForKey(std::string_view key_bytes, int partitions);

}  // namespace mayfly
