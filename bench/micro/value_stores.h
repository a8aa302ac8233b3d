// Stores of one value per key, all with the same face: Mayfly's value state and
// what it is measured against.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bench/harness/keys.h"
#include "bench/harness/must.h"
#include "bench/harness/payload.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/shard.h"
#include "mayfly/state/value_state.h"

namespace mayfly::bench {

template <typename K, typename V>
class MayflyValues {
 public:
  MayflyValues(const ShardOptions& options, StateTtlConfig::Builder ttl)
      : shard_(options) {
    ValueStateDescriptor<V> descriptor("value");
    descriptor.EnableTimeToLive(Must(ttl.Build()));
    state_ = Must(shard_.backend().GetState(descriptor));
  }

  void Put(const K& key, const V& value) {
    shard_.backend().SetCurrentKey(key);
    Must(state_->Update(value));
    shard_.CommitIfDue();
  }

  // Of the value; 0 if there is none.
  std::uint64_t Get(const K& key) {
    shard_.backend().SetCurrentKey(key);
    const V* value = Must(state_->Value());
    const std::uint64_t checksum = value == nullptr ? 0 : Checksum(*value);
    shard_.CommitIfDue();
    return checksum;
  }

  // Reads a value, modifies it and writes it; the checksum is of what was read.
  std::uint64_t ReadModifyWrite(const K& key) {
    shard_.backend().SetCurrentKey(key);
    V value = *Must(state_->Value());
    const std::uint64_t checksum = Checksum(value);
    Modify(value);
    Must(state_->Update(std::move(value)));
    shard_.CommitIfDue();
    return checksum;
  }

  // What was put is stored.
  void Flush() { shard_.Commit(); }

  void Compact() { Must(shard_.backend().Compact()); }

 private:
  Shard<K> shard_;
  ValueState<V>* state_;
};

// For strings as keys and as values.
class RocksdbValues {
 public:
  explicit RocksdbValues(bool write_ahead_log)
      : rocksdb_({.write_ahead_log = write_ahead_log}) {}

  void Put(const std::string& key, const std::string& value) {
    Must(rocksdb_.db().Put(rocksdb_.write_options(), key, value));
  }

  std::uint64_t Get(const std::string& key) {
    found_.Reset();
    const rocksdb::Status status =
        rocksdb_.db().Get(rocksdb_.read_options(),
                          rocksdb_.db().DefaultColumnFamily(), key, &found_);
    if (status.IsNotFound()) return 0;
    Must(status);
    return Checksum(found_.ToStringView());
  }

  std::uint64_t ReadModifyWrite(const std::string& key) {
    Must(rocksdb_.db().Get(rocksdb_.read_options(), key, &value_));
    const std::uint64_t checksum = Checksum(value_);
    Modify(value_);
    Put(key, value_);
    return checksum;
  }

  void Flush() {}
  void Compact() { rocksdb_.Compact(); }

 private:
  PlainRocksdb rocksdb_;
  rocksdb::PinnableSlice found_;
  std::string value_;
};

// A plain hash map of (value, timestamp). It keeps no time: every timestamp is
// the same.
template <typename K, typename V>
class HashMapValues {
 public:
  void Put(const K& key, const V& value) { map_[key] = {value, kTimestampMs}; }

  std::uint64_t Get(const K& key) {
    const auto it = map_.find(key);
    return it == map_.end() ? 0 : Checksum(it->second.first);
  }

  void Flush() {}
  void Compact() {}

 private:
  static constexpr std::int64_t kTimestampMs = 1'700'000'000'000;
  absl::flat_hash_map<K, std::pair<V, std::int64_t>> map_;
};

// The same with what a TTL is about: each operation reads the clock, a read
// looks whether the entry is expired.
template <typename K, typename V>
class ExpiringHashMapValues {
 public:
  void Put(const K& key, const V& value) { map_[key] = {value, NowMs()}; }

  std::uint64_t Get(const K& key) {
    const std::int64_t now_ms = NowMs();
    const auto it = map_.find(key);
    if (it == map_.end()) return 0;
    if (it->second.second + kTtlMs <= now_ms) {
      map_.erase(it);
      return 0;
    }
    return Checksum(it->second.first);
  }

  void Flush() {}
  void Compact() {}

 private:
  static constexpr std::int64_t kTtlMs = 24 * 3'600'000;

  static std::int64_t NowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  absl::flat_hash_map<K, std::pair<V, std::int64_t>> map_;
};

// What Mayfly's table counts for a value of `bytes`, roughly: two strings, the
// timestamp with flags, and what the value holds on the heap.
constexpr std::size_t TableBytesOfValue(std::size_t bytes) {
  return 2 * sizeof(std::string) + 16 + bytes + 1;
}

// What to do with a store.
inline constexpr auto kGet = [](auto& store, const auto& key) {
  return store.Get(key);
};

inline constexpr auto kReadModifyWrite = [](auto& store, const auto& key) {
  return store.ReadModifyWrite(key);
};

template <typename V>
auto PutOf(std::size_t value_bytes) {
  constexpr std::uint64_t kValues = 64;
  std::vector<V> values;
  for (std::uint64_t i = 0; i < kValues; ++i) {
    values.push_back(Value<V>(i, value_bytes));
  }
  return [values = std::move(values), i = std::uint64_t{0}](
             auto& store, const auto& key) mutable -> std::uint64_t {
    store.Put(key, values[i++ % kValues]);
    return 0;
  };
}

// Puts keys 0 to `keys` - 1 into a store, in their own order since that is
// fastest, and compacts it.
template <typename K, typename V, typename Store>
std::unique_ptr<Store> Loaded(std::unique_ptr<Store> store, std::size_t keys,
                              std::size_t value_bytes) {
  for (const auto& [key, i] : SortedKeys<K>(keys)) {
    store->Put(key, Value<V>(i, value_bytes));
  }
  store->Flush();
  store->Compact();
  return store;
}

}  // namespace mayfly::bench
