// Where "now" comes from.
#pragma once

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
};

}  // namespace mayfly
