// List state over RocksDB, beside appends by RocksDB's merge.
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/list_stores.h"
#include "bench/micro/registration.h"

namespace mayfly::bench {
namespace {

void RegisterAppend(const Registration& registration) {
  const Scale scale = registration.scale;
  const std::size_t operations = 2 * scale.operations;
  const Work work{KeysOf<std::string>(Uniform(operations, scale.keys / 10)),
                  Append(), kReadList};
  const auto rocksdb = [=](bool write_ahead_log) {
    return [=] {
      return work.On(std::make_unique<RocksdbLists>(write_ahead_log));
    };
  };
  RegisterWorkload(
      {.name = "rocksdb/list/append",
       .operations = operations,
       .contenders = {{"mayfly",
                       [=] {
                         return work.On(
                             std::make_unique<MayflyLists<std::string>>(
                                 ShardOptions{.commit_every =
                                                  scale.commit_every}));
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

// Lists of which elements were appended in turns, so that each lies in many
// pieces, and which have fallen out of the table.
class StoredLists {
 public:
  StoredLists(const Scale& scale, const Lists& lists)
      : commit_every_(scale.commit_every),
        lists_(lists),
        work_{KeysOf<std::string>(Distinct(lists.reads, lists.lists)),
              kReadList, NoReadBack()} {}

  Contender Mayfly() const {
    return {"mayfly", [*this] {
              return On(std::make_unique<MayflyLists<std::string>>(ShardOptions{
                  .table_bytes_max =
                      lists_.lists / 10 * TableBytesOfList(lists_.elements),
                  .commit_every = commit_every_}));
            }};
  }

  Contender Rocksdb() const {
    return {"rocksdb",
            [*this] { return On(std::make_unique<RocksdbLists>(true)); }};
  }

 private:
  template <typename Store>
  std::unique_ptr<Subject> On(std::unique_ptr<Store> store) const {
    store =
        InTurns<std::string>(std::move(store), lists_.lists, lists_.elements);
    if (lists_.compacted) store->Compact();
    return work_.On(std::move(store));
  }

  std::size_t commit_every_;
  Lists lists_;
  Work<std::string, decltype(kReadList), NoReadBack> work_;
};

void RegisterRead(const Registration& registration, const std::string& name,
                  const Lists& lists, double target) {
  const StoredLists stored(registration.scale, lists);
  RegisterWorkload({.name = "rocksdb/list/" + name,
                    .operations = lists.reads,
                    .contenders = {stored.Mayfly(), stored.Rocksdb()},
                    .comparisons = {{"mayfly", "rocksdb", target}}},
                   registration);
}

}  // namespace

void RegisterRocksdbList(const Registration& registration) {
  const Scale& scale = registration.scale;
  RegisterAppend(registration);
  RegisterRead(
      registration, "read_10",
      {.lists = scale.keys / 10, .elements = 10, .reads = scale.operations / 4},
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
