#include "runtime/restore_meter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mayfly::runtime_internal {
namespace {

// Often enough for who reads a log, rarely enough for who pages through it.
constexpr std::chrono::milliseconds kLogInterval{10'000};

}  // namespace

RestoreMeter::RestoreMeter(const JobPlan& plan, const TtlClock& clock,
                           const std::atomic<bool>& stop)
    : plan_(plan),
      clock_(clock),
      stop_(stop),
      start_ms_(clock.NowMs()),
      progress_timer_(plan.progress_interval, start_ms_),
      log_timer_(kLogInterval, start_ms_),
      step_start_ms_(start_ms_) {}

void RestoreMeter::Begin(std::string source, RestoreStep step,
                         std::uint64_t total) {
  progress_ = {.source = std::move(source), .step = step, .total = total};
  step_start_ms_ = clock_.NowMs();
}

absl::Status RestoreMeter::Add(std::uint64_t done) {
  return Set(progress_.done + done, progress_.total);
}

absl::Status RestoreMeter::Set(std::uint64_t done, std::uint64_t total) {
  progress_.done = done;
  progress_.total = std::max(done, total);
  Report();
  if (!stop_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return absl::CancelledError(absl::StrCat(
      "asked to stop while its state was restored from '", progress_.source,
      "'; start it again, and the restore begins anew"));
}

void RestoreMeter::Report() {
  const TimestampMs now_ms = clock_.NowMs();
  const bool to_user =
      plan_.on_progress != nullptr && progress_timer_.Due(now_ms);
  const bool to_log = log_timer_.Due(now_ms);
  if (!to_user && !to_log) return;
  const double seconds =
      static_cast<double>(std::max<TimestampMs>(now_ms - step_start_ms_, 1)) /
      1000;
  progress_.per_second = static_cast<double>(progress_.done) / seconds;
  if (progress_.per_second > 0) {
    progress_.left = std::chrono::milliseconds(static_cast<std::int64_t>(
        1000 * static_cast<double>(progress_.total - progress_.done) /
        progress_.per_second));
  }
  if (to_user) {
    progress_timer_.Restart(now_ms);
    JobProgress progress;
    progress.elapsed =
        std::chrono::milliseconds(std::max<TimestampMs>(now_ms - start_ms_, 0));
    progress.restore = progress_;
    plan_.on_progress(progress);
  }
  if (to_log) {
    log_timer_.Restart(now_ms);
    plan_.log(
        absl::StrCat("job '", plan_.options.name, "': ", progress_.ToString()));
  }
}

}  // namespace mayfly::runtime_internal
