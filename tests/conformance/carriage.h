// The variants of the suite: what is done with a state between two steps of a
// program, none of which may be noticed.
#pragma once

#include <array>
#include <cstddef>

#include "tests/unit/state/shard_set.h"

namespace mayfly::conformance {

enum class Carriage {
  kNone,
  kCheckpoint,    // A restart from a copy.
  kSavepoint,     // Written, and restored into the same backend.
  kOtherBackend,  // Restored into the other backend, and the next time back.
  kOtherShards,   // Restored into 2 shards, then 3, then 1, and so on.
};
inline constexpr std::array kCarriages = {
    Carriage::kNone, Carriage::kCheckpoint, Carriage::kSavepoint,
    Carriage::kOtherBackend, Carriage::kOtherShards};

// As the names of tests end.
inline const char* NameOf(Carriage carriage) {
  constexpr std::array kNames = {"NotCarried", "Checkpoint", "Savepoint",
                                 "OtherBackend", "OtherShards"};
  return kNames.at(static_cast<std::size_t>(carriage));
}

inline constexpr int kShardsMax = 3;

// Whether it goes through a savepoint, which leaves out what has expired.
inline bool IsPortable(Carriage carriage) {
  return carriage >= Carriage::kSavepoint;
}

// Where a state is restored to that is now at `from`.
inline state_test::Placement DestinationOf(Carriage carriage,
                                           state_test::Placement from) {
  if (carriage == Carriage::kOtherBackend) {
    from.setup = from.setup.kind == BackendKind::kHeap ? state_test::kRocksdb
                                                       : state_test::kHeap;
  } else if (carriage == Carriage::kOtherShards) {
    from.shards = from.shards % kShardsMax + 1;
  }
  return from;
}

// Commits, and has the shards go on from there; states must be registered anew.
template <typename K>
void Carry(Carriage carriage, state_test::ShardSet<K>& shards) {
  using state_test::Must;
  if (carriage == Carriage::kNone) return;
  Must(shards.Commit());
  if (carriage == Carriage::kCheckpoint) {
    Must(shards.CopyFrom(
        shards.Save(state_test::SaveForm::kCheckpoint).value()));
  } else if (IsPortable(carriage)) {
    Must(shards.RestoreFrom(
        shards.Save(state_test::SaveForm::kSavepoint).value(),
        DestinationOf(carriage, shards.placement())));
  }
  Must(shards.Open());
}

}  // namespace mayfly::conformance
