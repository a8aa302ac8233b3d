// One accumulator per key, of another type than what goes in and comes out.
#pragma once

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// Every call acts on the current key of the backend that made this state, and
// reads the clock once. The accumulator expires as a whole, its TTL counted
// from the last Add().
// Threads: one, the thread that owns the backend.
// Lifetime: owned by its backend.
// Source: Flink AggregatingState.
template <typename In, typename Out>
class AggregatingState {
 public:
  virtual ~AggregatingState() = default;

  // The result of what has been added; nullopt if there is no accumulator, or
  // it is expired and not visible. Renews the timestamp under kOnReadAndWrite;
  // removes the accumulator if it is expired.
  // Errors: kFailedPrecondition if no key is current; kDataLoss if the stored
  // bytes do not decode; kUnavailable if RocksDB fails to read (safe to
  // retry); kInternal if get_result threw.
  virtual absl::StatusOr<std::optional<Out>> Get() = 0;

  // Adds a value to the accumulator that is live, or to a new one if there is
  // none or it has expired, whatever is visible to readers. Stamps it with now.
  // An accumulator that only a clock which has jumped calls expired is live.
  // Errors: as Get(); kInternal if a function threw, kInvalidArgument if the
  // accumulator has grown past 2 GiB: it is then as the function left it.
  virtual absl::Status Add(const In& value) = 0;

  // As Add(), but the accumulator lives for `ttl` from now, as explained at
  // ValueState::Update(). The next Add() decides anew.
  // Errors: as Add(), and as ValueState::Update() with a TTL.
  virtual absl::Status Add(const In& value, std::chrono::milliseconds ttl) = 0;

  // Removes the accumulator; clearing what is absent is OK.
  // Errors: kFailedPrecondition if no key is current.
  virtual absl::Status Clear() = 0;
};

}  // namespace mayfly
