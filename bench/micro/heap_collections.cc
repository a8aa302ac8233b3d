// List and map state in memory, beside plain hash maps of vectors and of hash
// maps. There is no target for these.
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/list_stores.h"
#include "bench/micro/map_stores.h"
#include "bench/micro/registration.h"
#include "bench/micro/value_stores.h"

namespace mayfly::bench {
namespace {

using K = std::uint64_t;
using V = SmallValue;

constexpr std::size_t kListElements = 10;

template <typename MakeOurs, typename MakeTheirs>
void RegisterPair(const Registration& registration, const std::string& name,
                  MakeOurs make_ours, MakeTheirs make_theirs) {
  RegisterWorkload(
      {.name = "heap/" + name,
       .operations = registration.scale.heap_operations,
       .contenders = {{"mayfly", make_ours}, {"flat_hash_map", make_theirs}},
       .comparisons = {{"mayfly", "flat_hash_map"}}},
      registration);
}

template <typename Item, typename Operation, typename ReadBack>
void RegisterLists(const Registration& registration, const std::string& name,
                   const Work<Item, Operation, ReadBack>& work) {
  const std::size_t lists = registration.scale.heap_keys / kListElements;
  const auto on = [=]<typename Store>(std::unique_ptr<Store> store) {
    return work.On(InTurns<K>(std::move(store), lists, kListElements));
  };
  RegisterPair(
      registration, "list/" + name,
      [=] {
        return on(std::make_unique<MayflyLists<K>>(
            ShardOptions{.kind = BackendKind::kHeap}));
      },
      [=] { return on(std::make_unique<HashMapLists<K>>()); });
}

template <typename Item, typename Operation, typename ReadBack>
void RegisterMaps(const Registration& registration, const std::string& name,
                  const Work<Item, Operation, ReadBack>& work) {
  const std::size_t maps = registration.scale.heap_keys / kEntriesOfMap;
  const auto on = [=]<typename Store>(std::unique_ptr<Store> store) {
    return work.On(
        LoadedMaps<K, V>(std::move(store), maps, sizeof(SmallValue)));
  };
  RegisterPair(
      registration, "map/" + name,
      [=] {
        return on(std::make_unique<MayflyMaps<K, V>>(
            ShardOptions{.kind = BackendKind::kHeap}));
      },
      [=] { return on(std::make_unique<HashMapMaps<K, V>>()); });
}

}  // namespace

void RegisterHeapCollections(const Registration& registration) {
  const std::size_t operations = registration.scale.heap_operations;
  const std::size_t keys = registration.scale.heap_keys / 10;
  const auto key = KeysOf<K>(Uniform(operations, keys));
  RegisterLists(registration, "append",
                Work{key, Append(), kReadList, Pace::kApart});
  RegisterLists(registration, "read_10",
                Work{key, kReadList, NoReadBack(), Pace::kApart});

  const auto entry =
      EntriesOf<K>(Uniform(operations, keys * kEntriesOfMap), keys);
  RegisterMaps(registration, "update",
               Work{entry, PutOf<V>(sizeof(V)), kGetEntry, Pace::kApart});
  RegisterMaps(registration, "get",
               Work{entry, kGetEntry, NoReadBack(), Pace::kApart});
  RegisterMaps(registration, "iterate_10",
               Work{key, kWalkMap, NoReadBack(), Pace::kApart});
}

}  // namespace mayfly::bench
