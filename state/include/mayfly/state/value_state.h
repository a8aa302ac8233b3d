// One value per key.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// Every call acts on the current key of the backend that made this state, and
// reads the clock once.
// Threads: one, the thread that owns the backend.
// Lifetime: owned by its backend.
// Source: Flink ValueState.
template <typename T>
class ValueState {
 public:
  virtual ~ValueState() = default;

  // The value; null if it was never set, was cleared, or is expired and not
  // visible: absence is an answer, not an error. Renews the timestamp under
  // kOnReadAndWrite; removes the value if it is expired.
  // Lifetime: valid until the next call on this state or the next change of
  // the current key.
  // Errors: kFailedPrecondition if no key is current; kDataLoss if the stored
  // bytes do not decode; kUnavailable if RocksDB fails to read (safe to retry).
  virtual absl::StatusOr<const T*> Value() = 0;

  // Sets the value and stamps it with now. It survives a crash once the next
  // commit has returned.
  // Errors: kFailedPrecondition if no key is current.
  virtual absl::Status Update(T value) = 0;

  // As above, but this value lives for `ttl` from now, shorter or longer than
  // others. It is stored with the timestamp that makes it expire then under
  // the state's TTL: if that is changed, this value's time moves along, and a
  // read that renews it gives it the state's TTL where that is longer.
  // Range: 1 ms to milliseconds::max(), which is for ever.
  // Errors: also kInvalidArgument for a TTL out of range, or so much shorter
  // than the state's that no timestamp since 1970 can express it;
  // kFailedPrecondition if the state has no TTL, or an infinite one.
  virtual absl::Status Update(T value, std::chrono::milliseconds ttl) = 0;

  // Removes the value; clearing what is absent is OK.
  // Errors: as Update().
  virtual absl::Status Clear() = 0;
};

}  // namespace mayfly
