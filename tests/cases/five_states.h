// A state of each kind under one TTL, for the cases whose outcome must be the
// same whatever the kind.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/state/state_descriptor.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::cases {

// The average of what was added, and how much that was.
struct AverageFunction {
  using Accumulator = std::pair<std::int64_t, std::int64_t>;  // Sum and count.
  using Result = std::pair<double, std::int64_t>;
  using Descriptor =
      AggregatingStateDescriptor<std::int64_t, Accumulator, Result>;

  static Descriptor Describe(const std::string& name);
};

ReducingStateDescriptor<std::int64_t> DescribeSum(const std::string& name);

// Removes what has expired by the way that reaches all of it: on RocksDB a
// commit and a compaction, on heap a round of clean-up.
void RemoveExpired(state_test::Shard<>& shard);

class FiveStates {
 public:
  // What is stored of each state.
  using Counts = std::array<std::uint64_t, 5>;
  static Counts Each(std::uint64_t count);

  // One letter for each kind, as Live() returns them if all are.
  static constexpr const char* kAll = "VLMRA";
  static constexpr const char* kNone = "";

  FiveStates(const state_test::BackendSetup& setup, const StateTtlConfig& ttl,
             TimestampMs now_ms = 0)
      : ttl_(ttl), shard_(setup, now_ms) {}

  // To be called before anything below.
  void Register();

  // The same in a shard that was reopened, under another TTL.
  void RegisterAgain(const StateTtlConfig& ttl) {
    ttl_ = ttl;
    Register();
  }

  // One entry in each state, with the time of the shard.
  void Write(const std::string& key);

  // The kinds of which the key's entry can be read.
  std::string Live(const std::string& key);

  void RemoveExpired() { cases::RemoveExpired(shard_); }

  // Commits, and begins again at that commit.
  void Restart();

  // Physical entries, expired or not, as the statistics count them.
  Counts Stored();

  // Physical records, counted beneath the TTL: on RocksDB also tombstones and
  // pieces of lists. Commits, and restarts on RocksDB.
  Counts Raw();

  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }
  state_test::Shard<>& shard() { return shard_; }
  MapState<std::string, std::string>& map() { return *map_; }

 private:
  StateTtlConfig ttl_;
  state_test::Shard<> shard_;
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
  ReducingState<std::int64_t>* reducing_ = nullptr;
  AggregatingState<std::int64_t, AverageFunction::Result>* aggregating_ =
      nullptr;
};

}  // namespace mayfly::cases
