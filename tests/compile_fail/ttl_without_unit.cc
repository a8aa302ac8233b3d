// A TTL is a duration; a bare number could be of any unit.
#include <chrono>

#include "mayfly/state/ttl_config.h"

int main() {
  const auto good =
      mayfly::StateTtlConfig::NewBuilder(std::chrono::seconds(3600));
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  const auto bad = mayfly::StateTtlConfig::NewBuilder(3600);
#endif
  return good.Build().ok() ? 0 : 1;
}
