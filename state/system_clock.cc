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
};

}  // namespace

std::shared_ptr<const TtlClock> SystemClock() {
  static const std::shared_ptr<const TtlClock> clock =
      std::make_shared<WallClock>();
  return clock;
}

}  // namespace mayfly
