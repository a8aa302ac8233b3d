// States as they lie on disk, of which a part has expired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/harness/plain_rocksdb.h"
#include "mayfly/compaction/ttl_column_family.h"

namespace mayfly::bench {

enum class StateKind { kValues, kMapEntries, kListsFixed, kListsVariable };

struct StoredState {
  StateKind kind = StateKind::kValues;
  // Values, map entries or lists.
  std::size_t records = 0;
  // Of the values, map entries or list elements, which lie scattered.
  // Range: 0 to 100.
  int expired_percent = 0;

  bool is_map() const { return kind == StateKind::kMapEntries; }
  bool is_list() const {
    return kind == StateKind::kListsFixed || kind == StateKind::kListsVariable;
  }
  EntryLayout layout() const {
    return is_list() ? EntryLayout::kList : EntryLayout::kValue;
  }
};

// Whose form the stored bytes have.
enum class StoredForm {
  kMayfly,
  // A value and when it was put; there is no such form of a list.
  kDbWithTtl,
};

// Entries that are live were accessed within the last half of it, in no order;
// those that have expired, twice as long ago.
inline constexpr std::int32_t kStoredTtlSeconds = 24 * 3600;

// Puts the records in the order of their keys.
void Store(const StoredState& state, StoredForm form, PlainRocksdb& rocksdb);

struct StoredEntries {
  // Of what readers may see.
  std::uint64_t live_checksum = 0;
  std::uint64_t expired = 0;
};

// What is in a database now.
StoredEntries LookThrough(const StoredState& state, StoredForm form,
                          PlainRocksdb& rocksdb);

}  // namespace mayfly::bench
