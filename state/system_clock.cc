#include <time.h>

#include <chrono>

#include "mayfly/state/backend_options.h"

namespace mayfly {
namespace {

class WallClock final : public TtlClock {
 public:
  TimestampMs NowMs() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  std::optional<TimestampMs> SteadyMs() const override {
    // Goes on while the machine sleeps, as wall time does.
    timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nullopt;
    return static_cast<TimestampMs>(now.tv_sec) * 1000 +
           now.tv_nsec / 1'000'000;
  }
};

}  // namespace

std::shared_ptr<const TtlClock> SystemClock() {
  static const std::shared_ptr<const TtlClock> clock =
      std::make_shared<WallClock>();
  return clock;
}

}  // namespace mayfly
