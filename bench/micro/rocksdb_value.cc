// Value state over RocksDB, beside RocksDB: 16-byte keys, values of 100 bytes.
#include <cstdint>
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/registration.h"
#include "bench/micro/value_stores.h"

namespace mayfly::bench {
namespace {

using Mayfly = MayflyValues<std::string, std::string>;

constexpr std::size_t kValueBytes = 100;

// A table that holds a tenth of the stored keys.
ShardOptions BoundedTable(const Scale& scale) {
  return {.table_bytes_max = scale.keys / 10 * TableBytesOfValue(kValueBytes),
          .commit_every = scale.commit_every};
}

// Every key is new, so the table only costs.
void RegisterPut(const Registration& registration) {
  const Scale scale = registration.scale;
  const std::size_t operations = 2 * scale.operations;
  const Work work{KeysOf<std::string>(Distinct(operations, SIZE_MAX)),
                  PutOf<std::string>(kValueBytes), kGet};
  const auto mayfly = [=](const StateTtlConfig::Builder& ttl) {
    return [=] {
      return work.On(std::make_unique<Mayfly>(
          ShardOptions{.commit_every = scale.commit_every}, ttl));
    };
  };
  const auto rocksdb = [=](bool write_ahead_log) {
    return [=] {
      return work.On(std::make_unique<RocksdbValues>(write_ahead_log));
    };
  };
  RegisterWorkload({.name = "rocksdb/value/put",
                    .operations = operations,
                    .contenders = {{"mayfly", mayfly(LongTtl())},
                                   {"mayfly_no_ttl", mayfly(NoTtl())},
                                   {"rocksdb", rocksdb(true)},
                                   {"rocksdb_no_wal", rocksdb(false)}},
                    .comparisons = {{"mayfly", "rocksdb", 1.0},
                                    {"mayfly", "rocksdb_no_wal"},
                                    {"mayfly", "mayfly_no_ttl", 0.95}}},
                   registration);
}

// Work on keys that are all there.
template <typename Operation>
void RegisterStored(const Registration& registration, const std::string& name,
                    double target, const SequenceOf& sequence_of,
                    Operation operation) {
  const Scale scale = registration.scale;
  const Work work{KeysOf<std::string>(sequence_of), operation, NoReadBack()};
  const auto on = [=]<typename Store>(std::unique_ptr<Store> store) {
    return work.On(Loaded<std::string, std::string>(std::move(store),
                                                    scale.keys, kValueBytes));
  };
  const auto mayfly = [=](const StateTtlConfig::Builder& ttl) {
    return
        [=] { return on(std::make_unique<Mayfly>(BoundedTable(scale), ttl)); };
  };
  const auto rocksdb = [=](bool write_ahead_log) {
    return
        [=] { return on(std::make_unique<RocksdbValues>(write_ahead_log)); };
  };
  RegisterWorkload({.name = "rocksdb/value/" + name,
                    .operations = scale.operations,
                    .contenders = {{"mayfly", mayfly(LongTtl())},
                                   {"mayfly_no_ttl", mayfly(NoTtl())},
                                   {"rocksdb", rocksdb(true)},
                                   {"rocksdb_no_wal", rocksdb(false)}},
                    .comparisons = {{"mayfly", "rocksdb", target},
                                    {"mayfly", "rocksdb_no_wal"},
                                    {"mayfly", "mayfly_no_ttl", 0.95}}},
                   registration);
}

}  // namespace

void RegisterRocksdbValue(const Registration& registration) {
  const std::size_t keys = registration.scale.keys;
  const std::size_t operations = registration.scale.operations;
  RegisterPut(registration);
  RegisterStored(registration, "get_cold", 0.95, Distinct(operations, keys),
                 kGet);
  RegisterStored(registration, "rmw_uniform", 1.0, Uniform(operations, keys),
                 kReadModifyWrite);
  RegisterStored(registration, "rmw_zipf", 3.0, Zipf(operations, keys),
                 kReadModifyWrite);
  RegisterStored(registration, "rmw_zipf_within_table", 10.0,
                 Zipf(operations, keys / 20), kReadModifyWrite);
}

}  // namespace mayfly::bench
