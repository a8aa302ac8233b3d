// Only a builder makes a StateTtlConfig, and only if its settings are right.
#include <chrono>

#include "mayfly/state/ttl_config.h"

int main() {
  const auto config =
      mayfly::StateTtlConfig::NewBuilder(std::chrono::hours(3)).Build();
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  const mayfly::StateTtlConfig unchecked;
#endif
  return config.ok() ? 0 : 1;
}
