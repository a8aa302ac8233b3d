#include "runtime/malformed_lines.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mayfly::runtime_internal {
namespace {

// A file of another format has nothing but malformed lines.
constexpr std::chrono::milliseconds kLogInterval{1000};
constexpr std::uint64_t kLoggedMax = 10;

}  // namespace

MalformedLines::MalformedLines(const JobPlan& plan, const TtlClock& clock)
    : plan_(plan), clock_(clock), timer_(kLogInterval, clock.NowMs()) {}

absl::Status MalformedLines::Add(const MalformedLine& line) {
  ++count_;
  if (plan_.on_malformed_line != nullptr) {
    plan_.on_malformed_line(line);
  } else {
    Log(line);
  }
  const auto& limit = plan_.options.malformed_lines_max;
  if (!limit || count_ <= *limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(line.ToString(), "; malformed lines so far: ", count_,
                   ", and malformed_lines_max is ", *limit,
                   ": mend the input, or raise the limit"));
}

void MalformedLines::Log(const MalformedLine& line) {
  const TimestampMs now_ms = clock_.NowMs();
  if (timer_.Due(now_ms)) {
    Finish();
    logged_ = 0;
    timer_.Restart(now_ms);
  }
  if (logged_ == kLoggedMax) {
    ++not_logged_;
    return;
  }
  ++logged_;
  plan_.log("malformed line " + line.ToString());
}

void MalformedLines::Finish() {
  const std::uint64_t count = std::exchange(not_logged_, 0);
  if (count > 0)
    plan_.log(absl::StrCat("and ", count, " malformed lines more"));
}

}  // namespace mayfly::runtime_internal
