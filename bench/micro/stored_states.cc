#include "bench/micro/stored_states.h"

#include <memory>
#include <optional>
#include <string_view>

#include "bench/harness/keys.h"
#include "bench/harness/must.h"
#include "bench/harness/payload.h"
#include "bench/micro/map_stores.h"
#include "mayfly/serde/clock.h"
#include "mayfly/serde/entry_codec.h"

namespace mayfly::bench {
namespace {

constexpr std::int64_t kTtlMs = std::int64_t{kStoredTtlSeconds} * 1000;
constexpr std::size_t kDbWithTtlStampBytes = sizeof(std::int32_t);

// The same for all that is stored by this process.
TimestampMs Now() {
  static const TimestampMs now_ms = SystemClock()->NowMs();
  return now_ms;
}

// Of entry number i of a state.
TimestampMs LastAccess(const StoredState& state, std::uint64_t i) {
  const std::uint64_t chance = Scatter(Scatter(i + 1));
  const bool expired =
      chance % 100 < static_cast<std::uint64_t>(state.expired_percent);
  const auto age_ms = static_cast<std::int64_t>(chance / 100 % (kTtlMs / 2));
  return Now() - age_ms - (expired ? 2 * kTtlMs : 0);
}

bool IsExpired(TimestampMs last_access_ms) {
  return last_access_ms < Now() - kTtlMs;
}

void PutEntry(const StoredState& state, StoredForm form, const std::string& key,
              std::uint64_t i, PlainRocksdb& rocksdb) {
  constexpr std::size_t kValueBytes = 100;
  const TimestampMs last_access_ms = LastAccess(state, i);
  std::string entry;
  if (form == StoredForm::kMayfly) AppendTimestamp(last_access_ms, entry);
  entry += Value<std::string>(i, kValueBytes);
  if (form == StoredForm::kDbWithTtl) {
    serde_internal::AppendInOrder(
        std::endian::little, static_cast<std::uint32_t>(last_access_ms / 1000),
        entry);
  }
  Must(rocksdb.db().Put(rocksdb.write_options(), key, entry));
}

void PutMap(const StoredState& state, StoredForm form, const std::string& key,
            std::uint64_t map, PlainRocksdb& rocksdb) {
  for (std::uint64_t entry = 0; entry < kEntriesOfMap; ++entry) {
    std::string map_key;
    Serializer<std::uint64_t>::Serialize(entry, map_key);
    std::string stored_key;
    AppendMapKey(key, map_key, stored_key);
    PutEntry(state, form, stored_key, map * kEntriesOfMap + entry, rocksdb);
  }
}

// Ten elements of 24 bytes, or of 8 to 40.
void PutList(const StoredState& state, const std::string& key,
             std::uint64_t list, PlainRocksdb& rocksdb) {
  constexpr std::uint64_t kElements = 10;
  std::string elements;
  for (std::uint64_t i = 0; i < kElements; ++i) {
    const std::size_t bytes = state.kind == StateKind::kListsVariable
                                  ? 8 + Scatter(list + i) % 33
                                  : 24;
    AppendListElement(LastAccess(state, list * kElements + i),
                      Value<std::string>(list + i, bytes), elements);
  }
  Must(rocksdb.db().Put(rocksdb.write_options(), key, elements));
}

void Count(std::string_view key, TimestampMs last_access_ms,
           std::string_view payload, StoredEntries& found) {
  if (IsExpired(last_access_ms)) {
    ++found.expired;
  } else {
    found.live_checksum += Checksum(key) + Checksum(payload);
  }
}

void CountList(std::string_view key, std::string_view stored,
               StoredEntries& found) {
  ListReader elements(stored);
  while (const std::optional<EntryView> element = elements.Next()) {
    Count(key, element->timestamp_ms, element->bytes, found);
  }
  if (elements.malformed()) Fail("a list cannot be read to its end");
}

void CountEntry(StoredForm form, std::string_view key, std::string_view stored,
                StoredEntries& found) {
  if (form == StoredForm::kMayfly) {
    const std::optional<EntryView> entry = DecodeEntry(stored);
    if (!entry.has_value()) Fail("an entry cannot be read");
    return Count(key, entry->timestamp_ms, entry->bytes, found);
  }
  const std::size_t bytes = stored.size() - kDbWithTtlStampBytes;
  const auto seconds = serde_internal::ReadInOrder<std::uint32_t>(
      std::endian::little, stored.substr(bytes));
  Count(key, TimestampMs{seconds} * 1000, stored.substr(0, bytes), found);
}

}  // namespace

void Store(const StoredState& state, StoredForm form, PlainRocksdb& rocksdb) {
  const std::size_t keys =
      state.is_map() ? state.records / kEntriesOfMap : state.records;
  for (const auto& [key, i] : SortedKeys<std::string>(keys)) {
    if (state.is_map()) {
      PutMap(state, form, key, i, rocksdb);
    } else if (state.is_list()) {
      PutList(state, key, i, rocksdb);
    } else {
      PutEntry(state, form, key, i, rocksdb);
    }
  }
}

StoredEntries LookThrough(const StoredState& state, StoredForm form,
                          PlainRocksdb& rocksdb) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  // As it lies there, beneath what DBWithTTL makes of it.
  const std::unique_ptr<rocksdb::Iterator> record(
      rocksdb.db().GetRootDB()->NewIterator(options));
  StoredEntries found;
  for (record->SeekToFirst(); record->Valid(); record->Next()) {
    const std::string_view key = record->key().ToStringView();
    const std::string_view stored = record->value().ToStringView();
    if (state.is_list()) {
      CountList(key, stored, found);
    } else {
      CountEntry(form, key, stored, found);
    }
  }
  Must(record->status());
  return found;
}

}  // namespace mayfly::bench
