// Nor can something in which there is a floating-point number.
#include <optional>
#include <string>
#include <utility>

#include "mayfly/state/keyed_state_backend.h"

int main() {
  using Good = mayfly::KeyedStateBackend<std::pair<int, std::string>>;
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  using Bad = mayfly::KeyedStateBackend<std::pair<int, std::optional<float>>>;
  static_cast<void>(sizeof(Bad));
#endif
  return sizeof(Good) > 0 ? 0 : 1;
}
