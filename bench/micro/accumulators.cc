// Reducing state: a sum per key, 16-byte keys, beside a plain hash map of sums
// and beside reading, adding and putting in RocksDB.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "bench/harness/must.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/shard.h"
#include "bench/harness/subject.h"
#include "bench/micro/registration.h"
#include "mayfly/state/reducing_state.h"

namespace mayfly::bench {
namespace {

class MayflySums {
 public:
  MayflySums(const ShardOptions& options, StateTtlConfig::Builder ttl)
      : shard_(options) {
    ReducingStateDescriptor<std::int64_t> descriptor(
        "sum", [](const std::int64_t& sum, const std::int64_t& value) {
          return sum + value;
        });
    descriptor.EnableTimeToLive(Must(ttl.Build()));
    state_ = Must(shard_.backend().GetState(descriptor));
  }

  void Add(const std::string& key, std::int64_t value) {
    shard_.backend().SetCurrentKey(key);
    Must(state_->Add(value));
    shard_.CommitIfDue();
  }

  std::uint64_t Get(const std::string& key) {
    shard_.backend().SetCurrentKey(key);
    const std::int64_t* const sum = Must(state_->Get());
    return sum == nullptr ? 0 : static_cast<std::uint64_t>(*sum);
  }

  void Flush() { shard_.Commit(); }

 private:
  Shard<std::string> shard_;
  ReducingState<std::int64_t>* state_;
};

// Sums with the timestamp that Mayfly keeps beside them.
class HashMapSums {
 public:
  void Add(const std::string& key, std::int64_t value) {
    sums_[key].first += value;
  }
  std::uint64_t Get(const std::string& key) {
    return static_cast<std::uint64_t>(sums_[key].first);
  }
  void Flush() {}

 private:
  absl::flat_hash_map<std::string, std::pair<std::int64_t, std::int64_t>> sums_;
};

// Read, add, put.
class RocksdbSums {
 public:
  void Add(const std::string& key, std::int64_t value) {
    std::int64_t sum = static_cast<std::int64_t>(Get(key)) + value;
    Must(rocksdb_.db().Put(
        rocksdb_.write_options(), key,
        rocksdb::Slice(reinterpret_cast<const char*>(&sum), sizeof(sum))));
  }

  std::uint64_t Get(const std::string& key) {
    const rocksdb::Status status =
        rocksdb_.db().Get(rocksdb_.read_options(), key, &bytes_);
    if (status.IsNotFound()) return 0;
    Must(status);
    std::uint64_t sum = 0;
    std::memcpy(&sum, bytes_.data(), sizeof(sum));
    return sum;
  }

  void Flush() {}

 private:
  PlainRocksdb rocksdb_{{.write_ahead_log = true}};
  std::string bytes_;
};

constexpr auto kAdd = [](auto& store, const auto& key) -> std::uint64_t {
  store.Add(key, 3);
  return 0;
};
constexpr auto kGet = [](auto& store, const auto& key) {
  return store.Get(key);
};

template <typename Store>
std::unique_ptr<Store> Loaded(std::unique_ptr<Store> store, std::size_t keys) {
  for (const auto& [key, i] : SortedKeys<std::string>(keys)) {
    store->Add(key, static_cast<std::int64_t>(i));
  }
  store->Flush();
  return store;
}

}  // namespace

void RegisterAccumulators(const Registration& registration) {
  const Scale scale = registration.scale;
  const Work heap{
      KeysOf<std::string>(Uniform(scale.heap_operations, scale.heap_keys)),
      kAdd, kGet, Pace::kApart};
  RegisterWorkload(
      {.name = "heap/reducing/add",
       .operations = scale.heap_operations,
       .contenders = {{"mayfly",
                       [=] {
                         return heap.On(Loaded(
                             std::make_unique<MayflySums>(
                                 ShardOptions{.kind = BackendKind::kHeap},
                                 LongTtl()),
                             scale.heap_keys));
                       }},
                      {"flat_hash_map",
                       [=] {
                         return heap.On(Loaded(std::make_unique<HashMapSums>(),
                                               scale.heap_keys));
                       }}},
       .comparisons = {{"mayfly", "flat_hash_map", 0.8}}},
      registration);

  const Work rocksdb{
      KeysOf<std::string>(Zipf(5 * scale.operations, scale.keys)), kAdd, kGet};
  RegisterWorkload(
      {.name = "rocksdb/reducing/add_zipf",
       .operations = 5 * scale.operations,
       .contenders = {{"mayfly",
                       [=] {
                         return rocksdb.On(Loaded(
                             std::make_unique<MayflySums>(
                                 ShardOptions{
                                     .table_bytes_max = scale.keys / 10 * 100,
                                     .commit_every = 5 * scale.operations},
                                 LongTtl()),
                             scale.keys));
                       }},
                      {"rocksdb",
                       [=] {
                         return rocksdb.On(Loaded(
                             std::make_unique<RocksdbSums>(), scale.keys));
                       }}},
       .comparisons = {{"mayfly", "rocksdb", 3.0}}},
      registration);
}

}  // namespace mayfly::bench
