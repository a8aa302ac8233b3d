// The job itself: what it remembers of an airport, and what it makes of a
// flight. main.cc puts it between an input and an output.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "airport_delays/flight.h"
#include "airport_delays/report.h"
#include "mayfly/runtime/keyed_process_function.h"
#include "mayfly/state/list_state.h"
#include "mayfly/state/map_state.h"
#include "mayfly/state/state_descriptor.h"
#include "mayfly/state/ttl_config.h"
#include "mayfly/state/value_state.h"

namespace airport_delays {

// [snippet: descriptors]
// What is remembered of each airport, all of it with the same TTL.
struct DelayBoardStates {
  explicit DelayBoardStates(const mayfly::StateTtlConfig& ttl) {
    streak.EnableTimeToLive(ttl);
    recent.EnableTimeToLive(ttl);
    destinations.EnableTimeToLive(ttl);
  }

  // Departures since the airport was last silent for a whole TTL.
  mayfly::ValueStateDescriptor<std::int64_t> streak{"streak"};
  // Minutes of delay; each departure expires by itself.
  mayfly::ListStateDescriptor<std::int32_t> recent{"recent"};
  // Destination to last delay; each destination expires by itself.
  mayfly::MapStateDescriptor<std::string, std::int32_t> destinations{
      "destinations"};
};
// [/snippet]

// [snippet: delay_board]
class DelayBoard
    : public mayfly::KeyedProcessFunction<std::string, Flight, Report> {
 public:
  explicit DelayBoard(const mayfly::StateTtlConfig& ttl) : states_(ttl) {}

  absl::Status Open(RuntimeContext& context) override;
  absl::Status ProcessElement(const Flight& flight, Context& context,
                              Collector<Report>& out) override;

 private:
  const DelayBoardStates states_;
  mayfly::ValueState<std::int64_t>* streak_ = nullptr;
  mayfly::ListState<std::int32_t>* recent_ = nullptr;
  mayfly::MapState<std::string, std::int32_t>* destinations_ = nullptr;
};
// [/snippet]

}  // namespace airport_delays
