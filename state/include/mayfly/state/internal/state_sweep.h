// Walks the entries of one state round and round and removes what has expired:
// incremental clean-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/internal/byte_store.h"
#include "mayfly/state/internal/state_spec.h"
#include "mayfly/state/internal/state_table.h"

namespace mayfly::state_internal {

// The cursor lives as long as the sweep; a step goes on where the last one
// ended. What is removed goes by the time that all destruction goes by.
// Threads: one.
class StateSweep {
 public:
  virtual ~StateSweep() = default;

  // About how many entries the next step checks.
  virtual std::size_t NextCost() const = 0;

  // Errors: kUnavailable or kDataLoss if the store cannot be read.
  virtual absl::StatusOr<SweepCounts> Step(TimestampMs purge_ms) = 0;

  // From here on round_done() says whether every entry has been passed since.
  virtual void BeginRound() = 0;
  virtual bool round_done() const = 0;

  // Hands over the removals that a commit has to write; before those of the
  // table, which may have written the same keys since.
  virtual void WriteChanges(ChangeWriter& writer) const = 0;
  virtual void MarkCommitted() = 0;
};

// Of a table that holds everything: a step is a segment, which is never moved
// or copied for it.
std::unique_ptr<StateSweep> MakeHeapSweep(StateTable* table);

// Of a store beneath a table: a step is a stretch of the keyspace, read without
// filling the cache. What it removes, it removes with the next commit; until
// then readers hide it.
std::unique_ptr<StateSweep> MakeStoreSweep(StateTable* table, StateKind kind);

}  // namespace mayfly::state_internal
