// One value per key into which others are folded.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// Every call acts on the current key of the backend that made this state, and
// reads the clock once. The value expires as a whole, its TTL counted from the
// last Add(): what is added before that lives on in it.
// Threads: one, the thread that owns the backend.
// Lifetime: owned by its backend.
// Source: Flink ReducingState.
template <typename T>
class ReducingState {
 public:
  virtual ~ReducingState() = default;

  // What has been folded together; null if nothing was added, or it is expired
  // and not visible. Renews the timestamp under kOnReadAndWrite; removes the
  // value if it is expired.
  // Lifetime: valid until the next call on this state or the next change of
  // the current key.
  // Errors: kFailedPrecondition if no key is current; kDataLoss if the stored
  // bytes do not decode; kUnavailable if RocksDB fails to read (safe to retry).
  virtual absl::StatusOr<const T*> Get() = 0;

  // Folds a value into the one that is live; the first value, and the first
  // after the old one has expired, is taken as it is, whatever is visible to
  // readers. Stamps the result with now. A value that only a clock which has
  // jumped calls expired is live.
  // Errors: as Get(); kInternal if the reduce function threw,
  // kInvalidArgument if the result exceeds 2 GiB: the state is as it was.
  virtual absl::Status Add(T value) = 0;

  // As Add(), but the result lives for `ttl` from now, as explained at
  // ValueState::Update(). The next Add() decides anew.
  // Errors: as Add(), and as ValueState::Update() with a TTL.
  virtual absl::Status Add(T value, std::chrono::milliseconds ttl) = 0;

  // Removes the value; clearing what is absent is OK.
  // Errors: kFailedPrecondition if no key is current.
  virtual absl::Status Clear() = 0;
};

}  // namespace mayfly
