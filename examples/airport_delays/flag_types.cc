#include "airport_delays/flag_types.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"

namespace airport_delays {
namespace {

constexpr absl::string_view kUnlimited = "unlimited";
constexpr std::chrono::milliseconds kIntervalMax = std::chrono::hours(24);
constexpr int kCountMax = 1000;

std::string_view ToStd(absl::string_view text) {
  return {text.data(), text.size()};
}

std::string FormatDuration(mayfly::FlagDuration duration) {
  if (std::isinf(duration.count())) return "infinite";
  return absl::FormatDuration(absl::Milliseconds(duration.count()));
}

}  // namespace

bool AbslParseFlag(absl::string_view text, Ttl* ttl, std::string* error) {
  const absl::StatusOr<mayfly::FlagDuration> duration =
      mayfly::ParseDuration(ToStd(text));
  if (!duration.ok()) {
    *error = std::string(duration.status().message());
    return false;
  }
  ttl->value = *duration;
  const absl::Status status =
      mayfly::StateTtlConfig::NewBuilder(*duration).Build().status();
  if (status.ok()) return true;
  *error = absl::StrCat(status.message(),
                        "; give 3h, 30m, 1500ms and the like, or infinite");
  return false;
}

std::string AbslUnparseFlag(Ttl ttl) { return FormatDuration(ttl.value); }

bool AbslParseFlag(absl::string_view text, Interval* interval,
                   std::string* error) {
  const absl::StatusOr<mayfly::FlagDuration> duration =
      mayfly::ParseDuration(ToStd(text));
  if (duration.ok() && *duration >= std::chrono::milliseconds(1) &&
      *duration <= kIntervalMax) {
    interval->value =
        std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
    return true;
  }
  *error = "must be a duration of 1ms to 24h";
  return false;
}

std::string AbslUnparseFlag(Interval interval) {
  return FormatDuration(interval.value);
}

bool AbslParseFlag(absl::string_view text, Count* count, std::string* error) {
  if (absl::SimpleAtoi(text, &count->value) && count->value >= 1 &&
      count->value <= kCountMax) {
    return true;
  }
  *error = absl::StrCat("must be a number from 1 to ", kCountMax);
  return false;
}

std::string AbslUnparseFlag(Count count) { return absl::StrCat(count.value); }

bool AbslParseFlag(absl::string_view text, Limit* limit, std::string* error) {
  if (text == kUnlimited) {
    limit->value.reset();
    return true;
  }
  std::uint64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) {
    limit->value = value;
    return true;
  }
  *error = absl::StrCat("must be a number, or ", kUnlimited);
  return false;
}

std::string AbslUnparseFlag(Limit limit) {
  return limit.value ? absl::StrCat(*limit.value) : std::string(kUnlimited);
}

}  // namespace airport_delays
