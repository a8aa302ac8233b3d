// How delayed an airport is: what the job writes.
#pragma once

#include <cstdint>
#include <string>

#include "mayfly/serde/timestamp.h"

namespace airport_delays {

// An airport as of one of its departures, that one included.
struct Report {
  mayfly::TimestampMs time_ms = 0;
  std::string origin;
  // Departures since the airport was last silent for a whole TTL.
  std::int64_t streak = 0;
  // Departures within the TTL, and the mean of their delays in minutes.
  std::int64_t recent = 0;
  double mean_delay = 0;
  // Where those went: different airports.
  std::int64_t destinations = 0;
};

// Appends a line such as
//   {"time":"2001-01-01T00:47:00Z","origin":"DTW","streak":1,"recent":1,
//    "mean_delay":66.0,"destinations":1}
// with the fields in this order, no spaces, and no end of line.
void AppendReport(const Report& report, std::string& line);

}  // namespace airport_delays
