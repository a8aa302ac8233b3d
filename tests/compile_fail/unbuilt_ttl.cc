// A state takes a config that Build() has checked, not the builder.
#include <chrono>

#include "mayfly/state/state_descriptor.h"

int main() {
  mayfly::ValueStateDescriptor<int> descriptor("streak");
  const auto builder =
      mayfly::StateTtlConfig::NewBuilder(std::chrono::hours(3));
  descriptor.EnableTimeToLive(builder.Build().value());
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  descriptor.EnableTimeToLive(builder);
#endif
  return descriptor.ttl().has_value() ? 0 : 1;
}
