// A floating-point number cannot be the key of a map state.
#include <string>

#include "mayfly/state/state_descriptor.h"

int main() {
  const mayfly::MapStateDescriptor<int, double> good("good");
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  const mayfly::MapStateDescriptor<double, int> bad("bad");
#endif
  return good.name() == "good" ? 0 : 1;
}
