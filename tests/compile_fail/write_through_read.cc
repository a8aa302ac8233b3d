// What a read returns is the state's own object: changing it in place would
// neither stamp it nor have it written.
#include "mayfly/state/map_state.h"
#include "mayfly/state/value_state.h"

int Sum(mayfly::ValueState<int>& value, mayfly::MapState<int, int>& map) {
  const int sum = *value.Value().value() + *map.Get(1).value();
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  *value.Value().value() = sum;
#endif
  return sum;
}
