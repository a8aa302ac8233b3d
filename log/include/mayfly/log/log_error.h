// What went wrong with a log, by what the caller has to do about it.
//
//   switch (LogErrorOf(producer->CommitTransaction(timeout))) {
//     case LogError::kRetriable:  // The same call again.
//     case LogError::kAbortable:  // AbortTransaction(), then from the start.
//     ...
//   }
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace mayfly {

// Each has a status code of its own, and none of the others is used by a log.
// So a status that was given a longer message is still the same error.
enum class LogError : std::uint8_t {
  // The broker was not reached or did not answer in time. Whether the call took
  // effect is not known; call the same function again with the same arguments.
  // Code: kUnavailable.
  kRetriable = 1,
  // Too much is on its way to the broker: Poll() the producer, and again.
  // Code: kResourceExhausted.
  kQueueFull = 2,
  // The transaction can only be aborted; the producer is good for the next one.
  // Code: kAborted.
  kAbortable = 3,
  // Somebody else has taken over: a newer producer has the transactional id, or
  // the group has given the partitions away. Nothing was done. Drop what
  // belongs to them, and write nothing more.
  // Code: kFailedPrecondition.
  kFenced = 4,
  // The offset is not in the log: removed, or not written yet. Decide where to
  // go on, and Seek().
  // Code: kOutOfRange.
  kOffsetOutOfRange = 5,
  // There is no such topic or partition.
  // Code: kNotFound.
  kUnknownTopic = 6,
  // There is such a topic already.
  // Code: kAlreadyExists.
  kTopicExists = 7,
  // It will never be taken as it is: a record that is too large, has no key in
  // a compacted topic or a timestamp from the future, a setting that does not
  // exist, a call at the wrong time.
  // Code: kInvalidArgument.
  kRejected = 8,
  // The broker does not let us, or does not know us.
  // Code: kPermissionDenied.
  kDenied = 9,
  // This client object is of no more use; another one may be.
  // Code: kInternal.
  kFatal = 10,
};

// The status that stands for `error`.
// Errors: always, with the code of `error`.
absl::Status MakeLogError(LogError error, std::string_view message);

// What a status that a log has returned is. Of other codes: kFatal.
// Requires: not OK.
LogError LogErrorOf(const absl::Status& status);

// "retriable".
std::string_view LogErrorName(LogError error);

}  // namespace mayfly
