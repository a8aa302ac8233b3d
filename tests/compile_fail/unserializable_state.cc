// A state of a type that cannot be stored cannot be described.
#include <string>

#include "mayfly/state/state_descriptor.h"

struct Opaque {};

int main() {
  const mayfly::ValueStateDescriptor<std::string> good("good");
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  const mayfly::ValueStateDescriptor<Opaque> bad("bad");
#endif
  return good.name() == "good" ? 0 : 1;
}
