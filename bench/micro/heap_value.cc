// Value state in memory, beside a plain hash map.
//
// The same operations at two paces: apart, as those of a job's records, and
// back to back, which says how well a table lets the processor overlap them.
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/registration.h"
#include "bench/micro/value_stores.h"

namespace mayfly::bench {
namespace {

constexpr double kTarget = 0.8;
// With the default of 5 entries checked for each access.
constexpr double kCleanupTarget = 0.8;

std::string Count(std::size_t keys) {
  return keys % 1'000'000 == 0 ? std::to_string(keys / 1'000'000) + "M"
                               : std::to_string(keys / 1'000) + "k";
}

struct Table {
  std::size_t keys = 0;
  std::size_t value_bytes = 0;
  Pace pace = Pace::kApart;
};

template <typename K, typename V, typename Operation, typename ReadBack>
void RegisterHeap(const Registration& registration, const std::string& name,
                  const Table& table, Operation operation, ReadBack read_back) {
  const std::size_t operations = registration.scale.heap_operations;
  const Work<K, Operation, ReadBack> work{
      KeysOf<K>(Uniform(operations, table.keys)), operation, read_back,
      table.pace};
  const auto on = [=]<typename Store>(std::unique_ptr<Store> store) {
    return work.On(
        Loaded<K, V>(std::move(store), table.keys, table.value_bytes));
  };
  const auto mayfly = [=](const StateTtlConfig::Builder& ttl) {
    return [=] {
      return on(std::make_unique<MayflyValues<K, V>>(
          ShardOptions{.kind = BackendKind::kHeap}, ttl));
    };
  };
  RegisterWorkload(
      {.name = "heap/value/" + name,
       .operations = operations,
       .contenders = {{"mayfly", mayfly(LongTtl())},
                      {"mayfly_no_cleanup", mayfly(LongTtlWithoutCleanup())},
                      {"mayfly_no_ttl", mayfly(NoTtl())},
                      {"flat_hash_map",
                       [=] {
                         return on(std::make_unique<HashMapValues<K, V>>());
                       }},
                      {"flat_hash_map_ttl",
                       [=] {
                         return on(
                             std::make_unique<ExpiringHashMapValues<K, V>>());
                       }}},
       .comparisons = {{"mayfly", "flat_hash_map", kTarget},
                       {"mayfly", "flat_hash_map_ttl"},
                       {"mayfly", "mayfly_no_cleanup", kCleanupTarget},
                       {"mayfly", "mayfly_no_ttl", 0.95}}},
      registration);
}

template <typename K, typename V>
void RegisterGet(const Registration& registration, const std::string& name,
                 const Table& table) {
  RegisterHeap<K, V>(registration, "get" + name, table, kGet, NoReadBack());
}

template <typename K, typename V>
void RegisterUpdate(const Registration& registration, const std::string& name,
                    const Table& table) {
  RegisterHeap<K, V>(registration, "update" + name, table,
                     PutOf<V>(table.value_bytes), kGet);
}

}  // namespace

void RegisterHeapValue(const Registration& registration) {
  const Scale& scale = registration.scale;
  for (const Pace pace : {Pace::kApart, Pace::kBackToBack}) {
    for (const std::size_t keys : {scale.heap_keys, scale.heap_keys_large}) {
      const std::string name =
          (pace == Pace::kApart ? "/" : "_back_to_back/") + Count(keys);
      const Table table{keys, sizeof(SmallValue), pace};
      RegisterGet<std::uint64_t, SmallValue>(registration, name, table);
      RegisterUpdate<std::uint64_t, SmallValue>(registration, name, table);
    }
  }
  const Table strings{scale.heap_keys, 100};
  RegisterGet<std::string, std::string>(registration, "/100B_strings", strings);
  RegisterUpdate<std::string, std::string>(registration, "/100B_strings",
                                           strings);
  const Table long_strings{scale.heap_keys / 5, 1000};
  RegisterGet<std::uint64_t, std::string>(registration, "/1KB_strings",
                                          long_strings);
}

}  // namespace mayfly::bench
