// Stores of a list per key: Mayfly's list state and what it is measured
// against. Elements are of 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bench/harness/must.h"
#include "bench/harness/payload.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/shard.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/state/list_state.h"

namespace mayfly::bench {

template <typename K>
class MayflyLists {
 public:
  explicit MayflyLists(const ShardOptions& options) : shard_(options) {
    ListStateDescriptor<SmallValue> descriptor("list");
    descriptor.EnableTimeToLive(Must(LongTtl().Build()));
    state_ = Must(shard_.backend().GetState(descriptor));
  }

  void Add(const K& key, const SmallValue& element) {
    shard_.backend().SetCurrentKey(key);
    Must(state_->Add(element));
    shard_.CommitIfDue();
  }

  // Of all elements.
  std::uint64_t Get(const K& key) {
    shard_.backend().SetCurrentKey(key);
    std::uint64_t checksum = 0;
    const ListRange<SmallValue> list = Must(state_->Get());
    for (const SmallValue& element : list) checksum += Checksum(element);
    shard_.CommitIfDue();
    return checksum;
  }

  void Flush() { shard_.Commit(); }
  void Compact() { Must(shard_.backend().Compact()); }

 private:
  Shard<K> shard_;
  ListState<SmallValue>* state_;
};

// Appends by a merge of concatenation, with Mayfly's framing.
class RocksdbLists {
 public:
  explicit RocksdbLists(bool write_ahead_log)
      : rocksdb_({.write_ahead_log = write_ahead_log,
                  .configure = [](auto* options) {
                    options->merge_operator = Concatenation();
                  }}) {}

  void Add(const std::string& key, const SmallValue& element) {
    constexpr TimestampMs kTimestampMs = 1'700'000'000'000;
    payload_.clear();
    framed_.clear();
    Serializer<SmallValue>::Serialize(element, payload_);
    AppendListElement(kTimestampMs, payload_, framed_);
    Must(rocksdb_.db().Merge(rocksdb_.write_options(), key, framed_));
  }

  std::uint64_t Get(const std::string& key) {
    found_.Reset();
    const rocksdb::Status status =
        rocksdb_.db().Get(rocksdb_.read_options(),
                          rocksdb_.db().DefaultColumnFamily(), key, &found_);
    if (status.IsNotFound()) return 0;
    Must(status);
    std::uint64_t checksum = 0;
    ListReader reader(found_.ToStringView());
    SmallValue element;
    while (const auto view = reader.Next()) {
      Must(Serializer<SmallValue>::Deserialize(view->bytes, element));
      checksum += Checksum(element);
    }
    return checksum;
  }

  void Flush() {}
  void Compact() { rocksdb_.Compact(); }

 private:
  PlainRocksdb rocksdb_;
  rocksdb::PinnableSlice found_;
  std::string payload_;
  std::string framed_;
};

// A plain hash map of vectors of (element, timestamp).
template <typename K>
class HashMapLists {
 public:
  void Add(const K& key, const SmallValue& element) {
    constexpr std::int64_t kTimestampMs = 1'700'000'000'000;
    map_[key].push_back({element, kTimestampMs});
  }

  std::uint64_t Get(const K& key) {
    const auto it = map_.find(key);
    if (it == map_.end()) return 0;
    std::uint64_t checksum = 0;
    for (const auto& [element, timestamp_ms] : it->second) {
      checksum += Checksum(element);
    }
    return checksum;
  }

  void Flush() {}
  void Compact() {}

 private:
  absl::flat_hash_map<K, std::vector<std::pair<SmallValue, std::int64_t>>> map_;
};

// What Mayfly's table counts for a list, roughly.
constexpr std::size_t TableBytesOfList(std::size_t elements) {
  return 128 + elements * (sizeof(SmallValue) + sizeof(std::int64_t));
}

// What to do with a store.
inline constexpr auto kReadList = [](auto& store, const auto& key) {
  return store.Get(key);
};

inline auto Append() {
  return [i = std::uint64_t{0}](auto& store,
                                const auto& key) mutable -> std::uint64_t {
    store.Add(key, {i, i});
    ++i;
    return 0;
  };
}

// Appends an element to each of the first `lists` lists, then another one, and
// so on.
template <typename K, typename Store>
std::unique_ptr<Store> InTurns(std::unique_ptr<Store> store, std::size_t lists,
                               std::size_t elements) {
  for (std::uint64_t element = 0; element < elements; ++element) {
    for (std::uint64_t list = 0; list < lists; ++list) {
      store->Add(Key<K>(list), {element, list});
    }
  }
  store->Flush();
  return store;
}

}  // namespace mayfly::bench
