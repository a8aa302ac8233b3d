// Where "now" comes from.
#pragma once

#include <optional>

#include "mayfly/serde/timestamp.h"

namespace mayfly {

// A source of time. The library reads time through this and nothing else, so
// that tests and replays decide what time it is.
// Threads: NowMs() is called from shard threads and compaction threads at once.
class TtlClock {
 public:
  virtual ~TtlClock() = default;

  // The current time.  Unit: milliseconds since the Unix epoch.
  // A negative answer means that the clock cannot tell.
  virtual TimestampMs NowMs() const = 0;

  // A time that passes like NowMs() but that nobody sets, not even back or
  // ahead to where it should be: by it a jump of NowMs() is told from time
  // that has really passed. nullopt: NowMs() is taken at its word.
  // Unit: milliseconds since any instant.
  virtual std::optional<TimestampMs> SteadyMs() const { return std::nullopt; }
};

}  // namespace mayfly
