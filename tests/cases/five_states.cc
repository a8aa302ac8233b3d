#include "tests/cases/five_states.h"

#include <cstddef>

#include "tests/unit/state/raw_database.h"

namespace mayfly::cases {
namespace {

using state_test::Describe;
using state_test::Must;

constexpr std::array<const char*, 5> kNames = {"value", "list", "map",
                                               "reducing", "aggregating"};

template <typename Descriptor>
Descriptor WithTtl(Descriptor descriptor, const StateTtlConfig& ttl) {
  descriptor.EnableTimeToLive(ttl);
  return descriptor;
}

}  // namespace

AverageFunction::Descriptor AverageFunction::Describe(const std::string& name) {
  AggregateFunction<std::int64_t, Accumulator, Result> function;
  function.add = [](std::int64_t value, Accumulator& accumulator) {
    accumulator.first += value;
    ++accumulator.second;
  };
  function.get_result = [](const Accumulator& accumulator) {
    return Result(static_cast<double>(accumulator.first) /
                      static_cast<double>(accumulator.second),
                  accumulator.second);
  };
  return Descriptor(name, std::move(function));
}

ReducingStateDescriptor<std::int64_t> DescribeSum(const std::string& name) {
  return ReducingStateDescriptor<std::int64_t>(
      name, [](std::int64_t a, std::int64_t b) { return a + b; });
}

void RemoveExpired(state_test::Shard<>& shard) {
  shard.Commit();
  if (shard.options.kind == BackendKind::kRocksdb) {
    Must(shard->Compact());
  } else {
    Must(shard->CleanUp().status());
  }
}

FiveStates::Counts FiveStates::Each(std::uint64_t count) {
  Counts counts;
  counts.fill(count);
  return counts;
}

void FiveStates::Register() {
  value_ =
      &shard_.Get(Describe<ValueStateDescriptor<std::string>>("value", ttl_));
  list_ = &shard_.Get(Describe<ListStateDescriptor<std::string>>("list", ttl_));
  map_ = &shard_.Get(
      Describe<MapStateDescriptor<std::string, std::string>>("map", ttl_));
  reducing_ = &shard_.Get(WithTtl(DescribeSum("reducing"), ttl_));
  aggregating_ =
      &shard_.Get(WithTtl(AverageFunction::Describe("aggregating"), ttl_));
}

void FiveStates::Write(const std::string& key) {
  shard_->SetCurrentKey(key);
  Must(value_->Update("v"));
  Must(list_->Add("v"));
  Must(map_->Put("m", "v"));
  Must(reducing_->Add(1));
  Must(aggregating_->Add(1));
}

std::string FiveStates::Live(const std::string& key) {
  shard_->SetCurrentKey(key);
  std::string live;
  if (value_->Value().value() != nullptr) live += 'V';
  if (!list_->Get().value().empty()) live += 'L';
  if (map_->Get("m").value() != nullptr) live += 'M';
  if (reducing_->Get().value() != nullptr) live += 'R';
  if (aggregating_->Get().value().has_value()) live += 'A';
  return live;
}

void FiveStates::Restart() {
  shard_.Commit();
  shard_.Reopen();
  Register();
}

FiveStates::Counts FiveStates::Stored() {
  Counts counts{};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    counts[i] = shard_.StoredEntries(kNames[i]);
  }
  return counts;
}

FiveStates::Counts FiveStates::Raw() {
  shard_.Commit();
  if (shard_.options.kind == BackendKind::kHeap) return Stored();
  Counts counts{};
  shard_.Close();
  {
    state_test::RawDatabase raw(shard_.options.directory);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      counts[i] = raw.Records(kNames[i]);
    }
  }
  shard_.Reopen();
  Register();
  return counts;
}

}  // namespace mayfly::cases
