#include "mayfly/log/log_error.h"

#include <array>

namespace mayfly {
namespace {

struct Meaning {
  LogError error;
  absl::StatusCode code;
  std::string_view name;
};

constexpr std::array<Meaning, 10> kMeanings = {{
    {LogError::kRetriable, absl::StatusCode::kUnavailable, "retriable"},
    {LogError::kQueueFull, absl::StatusCode::kResourceExhausted, "queue full"},
    {LogError::kAbortable, absl::StatusCode::kAborted, "abortable"},
    {LogError::kFenced, absl::StatusCode::kFailedPrecondition, "fenced"},
    {LogError::kOffsetOutOfRange, absl::StatusCode::kOutOfRange,
     "offset out of range"},
    {LogError::kUnknownTopic, absl::StatusCode::kNotFound, "unknown topic"},
    {LogError::kTopicExists, absl::StatusCode::kAlreadyExists, "topic exists"},
    {LogError::kRejected, absl::StatusCode::kInvalidArgument, "rejected"},
    {LogError::kDenied, absl::StatusCode::kPermissionDenied, "denied"},
    {LogError::kFatal, absl::StatusCode::kInternal, "fatal"},
}};

const Meaning& MeaningOf(LogError error) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.error == error) return meaning;
  }
  return kMeanings.back();
}

}  // namespace

absl::Status MakeLogError(LogError error, std::string_view message) {
  return {MeaningOf(error).code, {message.data(), message.size()}};
}

LogError LogErrorOf(const absl::Status& status) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.code == status.code()) return meaning.error;
  }
  return LogError::kFatal;
}

std::string_view LogErrorName(LogError error) { return MeaningOf(error).name; }

}  // namespace mayfly
