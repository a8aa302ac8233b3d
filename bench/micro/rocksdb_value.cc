// Value state over RocksDB, beside RocksDB: 16-byte keys, values of 100 bytes.
#include <cstdint>
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/registration.h"
#include "bench/micro/value_stores.h"

namespace mayfly::bench {
namespace {

using Values = MayflyValues<std::string, std::string>;

constexpr std::size_t kValueBytes = 100;

constexpr std::size_t kTableEntryBytes = TableBytesOfValue(kValueBytes);

// Every key is new, so the table only costs.
void RegisterPut(const Registration& registration) {
  const Scale scale = registration.scale;
  const std::size_t operations = 2 * scale.operations;
  const Work work{KeysOf<std::string>(Distinct(operations, SIZE_MAX)),
                  PutOf<std::string>(kValueBytes), kGet};
  const auto mayfly = [=](const StateTtlConfig::Builder& ttl) {
    return [=] {
      return work.On(std::make_unique<Values>(
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
class StoredKeys {
 public:
  StoredKeys(const Scale& scale, const SequenceOf& sequence_of,
             Operation operation)
      : keys_(scale.keys),
        work_{KeysOf<std::string>(sequence_of), operation, NoReadBack()} {}

  Contender Mayfly(const std::string& name, std::size_t commit_every,
                   const StateTtlConfig::Builder& ttl) const {
    return {name, [=, *this] {
              return On(std::make_unique<Values>(
                  ShardOptions{.table_bytes_max = keys_ / 10 * kTableEntryBytes,
                               .commit_every = commit_every},
                  ttl));
            }};
  }

  Contender Rocksdb(const std::string& name, bool write_ahead_log) const {
    return {name, [=, *this] {
              return On(std::make_unique<RocksdbValues>(write_ahead_log));
            }};
  }

 private:
  template <typename Store>
  std::unique_ptr<Subject> On(std::unique_ptr<Store> store) const {
    return work_.On(
        Loaded<std::string, std::string>(std::move(store), keys_, kValueBytes));
  }

  std::size_t keys_;
  Work<std::string, Operation, NoReadBack> work_;
};

// Reads keys that have fallen out of the table, which holds a tenth of them.
void RegisterGet(const Registration& registration) {
  const Scale& scale = registration.scale;
  const StoredKeys keys(scale, Distinct(scale.operations, scale.keys), kGet);
  RegisterWorkload(
      {.name = "rocksdb/value/get_cold",
       .operations = scale.operations,
       .contenders = {keys.Mayfly("mayfly", scale.commit_every, LongTtl()),
                      keys.Mayfly("incremental", scale.commit_every,
                                  LongTtl().CleanupIncrementally(5, false)),
                      keys.Mayfly("mayfly_no_ttl", scale.commit_every, NoTtl()),
                      keys.Rocksdb("rocksdb", true)},
       .comparisons = {{"mayfly", "rocksdb", 0.95},
                       {"mayfly", "mayfly_no_ttl", 0.95},
                       {"incremental", "mayfly", 0.8}}},
      registration);
}

void RegisterUniform(const Registration& registration) {
  const Scale& scale = registration.scale;
  const StoredKeys keys(scale, Uniform(scale.operations, scale.keys),
                        kReadModifyWrite);
  RegisterWorkload(
      {.name = "rocksdb/value/rmw_uniform",
       .operations = scale.operations,
       .contenders = {keys.Mayfly("mayfly", scale.commit_every, LongTtl()),
                      keys.Mayfly("mayfly_no_ttl", scale.commit_every, NoTtl()),
                      keys.Rocksdb("rocksdb", true),
                      keys.Rocksdb("rocksdb_no_wal", false)},
       .comparisons = {{"mayfly", "rocksdb", 1.0},
                       {"mayfly", "rocksdb_no_wal"},
                       {"mayfly", "mayfly_no_ttl", 0.95}}},
      registration);
}

// Over keys of which some are much more popular than others. A commit comes
// with each repetition, which takes less than a second, unless the table asks
// for one.
void RegisterZipf(const Registration& registration, const std::string& name,
                  std::size_t popular_keys, double target) {
  const Scale& scale = registration.scale;
  const std::size_t operations = 5 * scale.operations;
  const StoredKeys keys(scale, Zipf(operations, popular_keys),
                        kReadModifyWrite);
  RegisterWorkload({.name = "rocksdb/value/" + name,
                    .operations = operations,
                    .contenders = {keys.Mayfly("mayfly", operations, LongTtl()),
                                   keys.Rocksdb("rocksdb", true)},
                    .comparisons = {{"mayfly", "rocksdb", target}}},
                   registration);
}

}  // namespace

void RegisterRocksdbValue(const Registration& registration) {
  const std::size_t keys = registration.scale.keys;
  RegisterPut(registration);
  RegisterGet(registration);
  RegisterUniform(registration);
  RegisterZipf(registration, "rmw_zipf", keys, 3);
  RegisterZipf(registration, "rmw_zipf_within_table", keys / 20, 10);
}

}  // namespace mayfly::bench
