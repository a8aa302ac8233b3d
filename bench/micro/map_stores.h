// Stores of a map per key: Mayfly's map state and what it is measured against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bench/harness/must.h"
#include "bench/harness/payload.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/shard.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/serde/state_key.h"
#include "mayfly/state/map_state.h"

namespace mayfly::bench {

inline constexpr std::size_t kEntriesOfMap = 10;

// A key and a map key.
template <typename K>
using MapItem = std::pair<K, std::uint64_t>;

template <typename K, typename V>
class MayflyMaps {
 public:
  explicit MayflyMaps(const ShardOptions& options) : shard_(options) {
    MapStateDescriptor<std::uint64_t, V> descriptor("map");
    descriptor.EnableTimeToLive(Must(LongTtl().Build()));
    state_ = Must(shard_.backend().GetState(descriptor));
  }

  void Put(const MapItem<K>& item, const V& value) {
    shard_.backend().SetCurrentKey(item.first);
    Must(state_->Put(item.second, value));
    shard_.CommitIfDue();
  }

  std::uint64_t Get(const MapItem<K>& item) {
    shard_.backend().SetCurrentKey(item.first);
    const V* value = Must(state_->Get(item.second));
    const std::uint64_t checksum = value == nullptr ? 0 : Checksum(*value);
    shard_.CommitIfDue();
    return checksum;
  }

  // Of all entries of the map.
  std::uint64_t Walk(const K& key) {
    shard_.backend().SetCurrentKey(key);
    std::uint64_t checksum = 0;
    auto entries = Must(state_->Entries());
    for (const auto& [map_key, value] : entries) {
      checksum += map_key + Checksum(value);
    }
    Must(entries.status());
    shard_.CommitIfDue();
    return checksum;
  }

  void Flush() { shard_.Commit(); }
  void Compact() { Must(shard_.backend().Compact()); }

 private:
  Shard<K> shard_;
  MapState<std::uint64_t, V>* state_;
};

// One key per entry, with Mayfly's encoding and a bloom filter of prefixes.
class RocksdbMaps {
 public:
  explicit RocksdbMaps(bool write_ahead_log)
      : rocksdb_({.is_map = true, .write_ahead_log = write_ahead_log}) {}

  void Put(const MapItem<std::string>& item, const std::string& value) {
    EncodeKey(item);
    Must(rocksdb_.db().Put(rocksdb_.write_options(), key_, value));
  }

  std::uint64_t Get(const MapItem<std::string>& item) {
    EncodeKey(item);
    found_.Reset();
    const rocksdb::Status status =
        rocksdb_.db().Get(rocksdb_.read_options(),
                          rocksdb_.db().DefaultColumnFamily(), key_, &found_);
    if (status.IsNotFound()) return 0;
    Must(status);
    return Checksum(found_.ToStringView());
  }

  std::uint64_t Walk(const std::string& key) {
    key_.clear();
    AppendMapKeyPrefix(key, key_);
    rocksdb::ReadOptions options = rocksdb_.read_options();
    options.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> iterator(
        rocksdb_.db().NewIterator(options));
    std::uint64_t checksum = 0;
    for (iterator->Seek(key_); iterator->Valid(); iterator->Next()) {
      std::uint64_t map_key = 0;
      Must(Serializer<std::uint64_t>::Deserialize(
          iterator->key().ToStringView().substr(key_.size()), map_key));
      checksum += map_key + Checksum(iterator->value().ToStringView());
    }
    Must(iterator->status());
    return checksum;
  }

  void Flush() {}
  void Compact() { rocksdb_.Compact(); }

 private:
  void EncodeKey(const MapItem<std::string>& item) {
    key_.clear();
    AppendMapKeyPrefix(item.first, key_);
    Serializer<std::uint64_t>::Serialize(item.second, key_);
  }

  PlainRocksdb rocksdb_;
  rocksdb::PinnableSlice found_;
  std::string key_;
};

// A plain hash map of hash maps of (value, timestamp).
template <typename K, typename V>
class HashMapMaps {
 public:
  void Put(const MapItem<K>& item, const V& value) {
    constexpr std::int64_t kTimestampMs = 1'700'000'000'000;
    map_[item.first][item.second] = {value, kTimestampMs};
  }

  std::uint64_t Get(const MapItem<K>& item) {
    const auto it = map_.find(item.first);
    if (it == map_.end()) return 0;
    const auto entry = it->second.find(item.second);
    return entry == it->second.end() ? 0 : Checksum(entry->second.first);
  }

  std::uint64_t Walk(const K& key) {
    const auto it = map_.find(key);
    if (it == map_.end()) return 0;
    std::uint64_t checksum = 0;
    for (const auto& [map_key, value] : it->second) {
      checksum += map_key + Checksum(value.first);
    }
    return checksum;
  }

  void Flush() {}
  void Compact() {}

 private:
  absl::flat_hash_map<
      K, absl::flat_hash_map<std::uint64_t, std::pair<V, std::int64_t>>>
      map_;
};

// What to do with a store.
inline constexpr auto kGetEntry = [](auto& store, const auto& item) {
  return store.Get(item);
};

inline constexpr auto kWalkMap = [](auto& store, const auto& key) {
  return store.Walk(key);
};

// Entries by number: the first of each of `maps` maps, then the second of each,
// and so on.
template <typename K>
std::function<std::vector<MapItem<K>>(int repetition)> EntriesOf(
    SequenceOf sequence_of, std::size_t maps) {
  return [=](int repetition) {
    std::vector<MapItem<K>> items;
    for (const std::uint64_t i : sequence_of(repetition)) {
      items.emplace_back(Key<K>(i % maps), i / maps);
    }
    return items;
  };
}

// Fills `maps` maps, in the order of their keys since that is fastest, and
// compacts them.
template <typename K, typename V, typename Store>
std::unique_ptr<Store> LoadedMaps(std::unique_ptr<Store> store,
                                  std::size_t maps, std::size_t value_bytes) {
  for (const auto& [key, map] : SortedKeys<K>(maps)) {
    for (std::uint64_t entry = 0; entry < kEntriesOfMap; ++entry) {
      store->Put({key, entry},
                 Value<V>(map * kEntriesOfMap + entry, value_bytes));
    }
  }
  store->Flush();
  store->Compact();
  return store;
}

}  // namespace mayfly::bench
