// A departure: what the job reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mayfly/serde/timestamp.h"

namespace airport_delays {

struct Flight {
  mayfly::TimestampMs time_ms = 0;
  std::string origin;
  std::string destination;
  // Negative: it left early.
  std::int32_t delay_minutes = 0;
};

// Reads a line such as
//   {"time":"2001-01-01T00:47:00Z","origin":"DTW","destination":"LAS",
//    "delay_minutes":66}
// in which other fields may stand too.
// Errors: kInvalidArgument saying what is wrong with the line, and with which
// field.
absl::StatusOr<Flight> ParseFlight(std::string_view line);

}  // namespace airport_delays
