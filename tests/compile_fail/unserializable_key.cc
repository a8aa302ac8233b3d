// A backend needs keys that can be stored.
#include <string>

#include "mayfly/state/keyed_state_backend.h"

struct Opaque {};

int main() {
  const mayfly::KeyedStateBackend<std::string>* const good = nullptr;
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  const mayfly::KeyedStateBackend<Opaque>* const bad = nullptr;
#endif
  return good == nullptr ? 0 : 1;
}
