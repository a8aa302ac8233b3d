// What the tests of migrations share: states of all kinds that allow one, and
// a look at what is stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "state/stored_shard.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {

using Text = ValueStateDescriptor<std::string>;
using Number = ValueStateDescriptor<std::int64_t>;
using Texts = ListStateDescriptor<std::string>;
using Numbers = ListStateDescriptor<std::int64_t>;
// Values of a map may be null.
using Nullable = std::optional<std::string>;
using Map = MapStateDescriptor<std::string, Nullable>;
using Sum = ReducingStateDescriptor<std::int64_t>;
using Last =
    AggregatingStateDescriptor<std::int64_t, std::int64_t, std::string>;

inline Sum MakeSum(const std::optional<StateTtlConfig>& ttl) {
  Sum sum("sum", [](std::int64_t a, std::int64_t b) { return a + b; });
  if (ttl) sum.EnableTimeToLive(*ttl);
  sum.AllowTtlMigration();
  return sum;
}

inline Last MakeLast(const std::optional<StateTtlConfig>& ttl) {
  Last last(
      "last",
      {.add = [](std::int64_t value,
                 std::int64_t& accumulator) { accumulator = value; },
       .get_result = [](std::int64_t value) { return std::to_string(value); }});
  if (ttl) last.EnableTimeToLive(*ttl);
  last.AllowTtlMigration();
  return last;
}

template <typename Descriptor>
Descriptor Migrating(std::string name,
                     const std::optional<StateTtlConfig>& ttl = std::nullopt) {
  auto descriptor = Describe<Descriptor>(std::move(name), ttl);
  descriptor.AllowTtlMigration();
  return descriptor;
}

// What is stored of a state in a directory that nobody has open, by key.
inline std::map<std::string, std::string> Stored(const std::string& directory,
                                                 const std::string& state) {
  std::map<std::string, std::string> stored;
  const auto shard = state_internal::StoredShard::Open(directory).value();
  for (int i = 0; i < shard->record().states_size(); ++i) {
    if (shard->record().states(i).name() != state) continue;
    Must(shard->Visit(static_cast<std::uint32_t>(i),
                      [&](std::string_view key, std::string_view value) {
                        stored[std::string(key)] = value;
                        return absl::OkStatus();
                      }));
  }
  return stored;
}

// The five kinds of state with the entries of key "k".
class Kinds {
 public:
  Kinds(Shard<>& shard, const std::optional<StateTtlConfig>& ttl)
      : shard_(shard),
        value_(shard.Get(Migrating<Text>("value", ttl))),
        list_(shard.Get(Migrating<Texts>("list", ttl))),
        map_(shard.Get(Migrating<Map>("map", ttl))),
        sum_(shard.Get(MakeSum(ttl))),
        last_(shard.Get(MakeLast(ttl))) {
    shard_->SetCurrentKey("k");
  }

  void Write(const std::string& text, std::int64_t number) {
    Must(value_.Update(text));
    Must(list_.Add(text));
    Must(map_.Put(text, std::nullopt));
    Must(sum_.Add(number));
    Must(last_.Add(number));
  }

  std::string Read() {
    std::string all = state_test::Read(value_).value_or("-") + "|";
    for (const std::string& element : state_test::Read(list_)) all += element;
    all += "|";
    for (const auto& [key, value] : state_test::Read(map_)) {
      all += key + "=" + value.value_or("null");
    }
    const std::int64_t* const sum = sum_.Get().value();
    all += "|" + (sum == nullptr ? "-" : std::to_string(*sum));
    return all + "|" + last_.Get().value().value_or("-");
  }

 private:
  Shard<>& shard_;
  ValueState<std::string>& value_;
  ListState<std::string>& list_;
  MapState<std::string, Nullable>& map_;
  ReducingState<std::int64_t>& sum_;
  AggregatingState<std::int64_t, std::string>& last_;
};

}  // namespace mayfly::state_test
