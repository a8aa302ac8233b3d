#include "runtime/clock_watch.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "runtime/job_totals.h"

namespace mayfly::runtime_internal {

ClockWatch::ClockWatch(const JobPlan& plan, const TtlClock& clock)
    : plan_(plan),
      clock_(clock),
      timer_(std::chrono::milliseconds(1000), clock.NowMs()) {}

void ClockWatch::Look(const std::vector<ShardReport>& reports) {
  timer_.Restart(clock_.NowMs());
  const bool jumped = TotalsOf(reports).clock_jumped;
  if (jumped == jumped_) return;
  jumped_ = jumped;
  plan_.log(absl::StrCat(
      "job '", plan_.options.name, "': the clock of this machine ",
      jumped ? "has jumped ahead. What has expired by it is hidden until the "
               "clock is set right, and nothing is removed for it. If the new "
               "time is the right one, restart the job"
             : "is as it was before it jumped ahead"));
}

}  // namespace mayfly::runtime_internal
