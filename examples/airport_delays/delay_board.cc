#include "airport_delays/delay_board.h"

#include <numeric>

#include "absl/status/statusor.h"

namespace airport_delays {

// [snippet: open]
// Called once a shard.
absl::Status DelayBoard::Open(RuntimeContext& context) {
  const auto streak = context.GetState(states_.streak);
  if (!streak.ok()) return streak.status();
  const auto recent = context.GetState(states_.recent);
  if (!recent.ok()) return recent.status();
  const auto destinations = context.GetState(states_.destinations);
  if (!destinations.ok()) return destinations.status();
  streak_ = *streak;
  recent_ = *recent;
  destinations_ = *destinations;
  return absl::OkStatus();
}
// [/snippet]

// [snippet: process]
// Called for each flight, with the states of its origin. What has expired is
// not there: no line of this is about time.
absl::Status DelayBoard::ProcessElement(const Flight& flight, Context&,
                                        Collector<Report>& out) {
  Report report{.time_ms = flight.time_ms, .origin = flight.origin};

  const absl::StatusOr<const std::int64_t*> before = streak_->Value();
  if (!before.ok()) return before.status();
  report.streak = (*before == nullptr ? 0 : **before) + 1;
  absl::Status status = streak_->Update(report.streak);
  status.Update(recent_->Add(flight.delay_minutes));
  status.Update(destinations_->Put(flight.destination, flight.delay_minutes));
  if (!status.ok()) return status;

  const auto recent = recent_->Get();
  if (!recent.ok()) return recent.status();
  report.recent = static_cast<std::int64_t>(recent->size());
  if (!recent->empty()) {
    report.mean_delay = std::accumulate(recent->begin(), recent->end(), 0.0) /
                        static_cast<double>(recent->size());
  }

  auto destinations = destinations_->Entries();
  if (!destinations.ok()) return destinations.status();
  for ([[maybe_unused]] const auto& entry : *destinations) {
    ++report.destinations;
  }
  if (!destinations->status().ok()) return destinations->status();

  out.Collect(std::move(report));
  return absl::OkStatus();
}
// [/snippet]

}  // namespace airport_delays
