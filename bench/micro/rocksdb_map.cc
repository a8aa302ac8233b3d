// Map state over RocksDB, beside RocksDB with a key per entry: 16-byte keys,
// 8-byte map keys, values of 100 bytes, ten entries in each map.
#include <cstdint>
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/map_stores.h"
#include "bench/micro/registration.h"
#include "bench/micro/value_stores.h"

namespace mayfly::bench {
namespace {

using Mayfly = MayflyMaps<std::string, std::string>;

constexpr std::size_t kValueBytes = 100;

// Every entry is new.
void RegisterPut(const Registration& registration) {
  const Scale scale = registration.scale;
  const std::size_t operations = 2 * scale.operations;
  const Work work{
      EntriesOf<std::string>(Distinct(operations, SIZE_MAX), scale.maps),
      PutOf<std::string>(kValueBytes), kGetEntry};
  const auto mayfly = [=] {
    return work.On(std::make_unique<Mayfly>(
        ShardOptions{.commit_every = scale.commit_every}));
  };
  const auto rocksdb = [=](bool write_ahead_log) {
    return
        [=] { return work.On(std::make_unique<RocksdbMaps>(write_ahead_log)); };
  };
  RegisterWorkload({.name = "rocksdb/map/put",
                    .operations = operations,
                    .contenders = {{"mayfly", mayfly},
                                   {"rocksdb", rocksdb(true)},
                                   {"rocksdb_no_wal", rocksdb(false)}},
                    .comparisons = {{"mayfly", "rocksdb", 1.0},
                                    {"mayfly", "rocksdb_no_wal"}}},
                   registration);
}

// Reads what has fallen out of the table, which holds a tenth of it.
template <typename Item, typename Operation>
void RegisterRead(const Registration& registration, const std::string& name,
                  std::size_t operations, const ItemsOf<Item>& items_of,
                  Operation operation) {
  const Scale scale = registration.scale;
  const Work work{items_of, operation, NoReadBack()};
  const auto on = [=]<typename Store>(std::unique_ptr<Store> store) {
    return work.On(LoadedMaps<std::string, std::string>(
        std::move(store), scale.maps, kValueBytes));
  };
  const ShardOptions options{
      .table_bytes_max =
          scale.maps / 10 * kEntriesOfMap * TableBytesOfValue(kValueBytes),
      .commit_every = scale.commit_every};
  RegisterWorkload(
      {.name = "rocksdb/map/" + name,
       .operations = operations,
       .contenders =
           {{"mayfly", [=] { return on(std::make_unique<Mayfly>(options)); }},
            {"rocksdb",
             [=] { return on(std::make_unique<RocksdbMaps>(true)); }}},
       .comparisons = {{"mayfly", "rocksdb", 0.95}}},
      registration);
}

}  // namespace

void RegisterRocksdbMap(const Registration& registration) {
  const std::size_t operations = registration.scale.operations;
  const std::size_t maps = registration.scale.maps;
  RegisterPut(registration);
  RegisterRead<MapItem<std::string>>(
      registration, "get_cold", operations,
      EntriesOf<std::string>(Distinct(operations, maps * kEntriesOfMap), maps),
      kGetEntry);
  RegisterRead<std::string>(registration, "iterate_10_cold", operations / 4,
                            KeysOf<std::string>(Distinct(operations / 4, maps)),
                            kWalkMap);
}

}  // namespace mayfly::bench
