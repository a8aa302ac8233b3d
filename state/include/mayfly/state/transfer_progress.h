// How far something has come that goes through the entries of states: a
// savepoint, a restore, a migration.
#pragma once

#include <cstdint>

namespace mayfly {

struct TransferProgress {
  // Keys that were read: of values, lists and accumulators, and map entries.
  std::uint64_t keys_done = 0;
  // An estimate where a database is read; keys_done may pass it.
  std::uint64_t keys_total = 0;
  // Keys and values that were read, uncompressed.  Unit: bytes.
  std::uint64_t bytes_done = 0;
  // Keys of which nothing was left, since it had expired.
  std::uint64_t keys_expired = 0;
};

}  // namespace mayfly
