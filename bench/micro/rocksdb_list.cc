// List state over RocksDB, beside appends by RocksDB's merge.
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/list_stores.h"
#include "bench/micro/registration.h"

namespace mayfly::bench {
namespace {

using Mayfly = MayflyLists<std::string>;

void RegisterAppend(const Registration& registration) {
  const Scale scale = registration.scale;
  const std::size_t operations = 2 * scale.operations;
  const Work work{KeysOf<std::string>(Uniform(operations, scale.keys / 10)),
                  Append(), kReadList};
  const auto rocksdb = [=](bool write_ahead_log) {
    return
        [=] { return work.On(std::make_unique<RocksdbLists>(write_ahead_log)); };
  };
  RegisterWorkload(
      {.name = "rocksdb/list/append",
       .operations = operations,
       .contenders = {{"mayfly",
                       [=] {
                         return work.On(std::make_unique<Mayfly>(ShardOptions{
                             .commit_every = scale.commit_every}));
                       }},
                      {"rocksdb", rocksdb(true)},
                      {"rocksdb_no_wal", rocksdb(false)}},
       .comparisons = {{"mayfly", "rocksdb", 1.0},
                       {"mayfly", "rocksdb_no_wal"}}},
      registration);
}

struct Lists {
  std::size_t lists = 0;
  std::size_t elements = 0;
  // Of one repetition.
  std::size_t reads = 0;
  bool compacted = true;
};

// Reads lists that have fallen out of the table.
void RegisterRead(const Registration& registration, const std::string& name,
                  const Lists& lists, double target) {
  const Scale scale = registration.scale;
  const Work work{KeysOf<std::string>(Distinct(lists.reads, lists.lists)),
                  kReadList, NoReadBack()};
  const auto on = [=]<typename Store>(std::unique_ptr<Store> store) {
    store = InTurns<std::string>(std::move(store), lists.lists, lists.elements);
    if (lists.compacted) store->Compact();
    return work.On(std::move(store));
  };
  const ShardOptions options{
      .table_bytes_max =
          lists.lists / 10 * TableBytesOfList(lists.elements),
      .commit_every = scale.commit_every};
  RegisterWorkload(
      {.name = "rocksdb/list/" + name,
       .operations = lists.reads,
       .contenders =
           {{"mayfly", [=] { return on(std::make_unique<Mayfly>(options)); }},
            {"rocksdb",
             [=] { return on(std::make_unique<RocksdbLists>(true)); }}},
       .comparisons = {{"mayfly", "rocksdb", target}}},
      registration);
}

}  // namespace

void RegisterRocksdbList(const Registration& registration) {
  const Scale& scale = registration.scale;
  RegisterAppend(registration);
  RegisterRead(registration, "read_10",
               {.lists = scale.keys / 10,
                .elements = 10,
                .reads = scale.operations / 4},
               0.9);
  RegisterRead(registration, "read_1000",
               {.lists = scale.long_lists / 2,
                .elements = scale.long_list_elements,
                .reads = scale.long_lists},
               0.9);
  RegisterRead(registration, "read_1000_scattered",
               {.lists = scale.long_lists + 1,
                .elements = scale.long_list_elements,
                .reads = scale.long_lists / 10,
                .compacted = false},
               20);
}

}  // namespace mayfly::bench
