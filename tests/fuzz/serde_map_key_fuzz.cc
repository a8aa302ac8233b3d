// A stored key of a map entry. What is read of it, written again, is the same
// bytes, and it lies within the range of its key.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/state_key.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view stored(reinterpret_cast<const char*>(data), size);
  const auto view = mayfly::DecodeMapKey(stored);
  if (view) {
    std::string written;
    mayfly::AppendMapKey(view->key, view->map_key, written);
    MAYFLY_CHECK(written == stored);
    std::string prefix;
    mayfly::AppendMapKeyPrefix(view->key, prefix);
    MAYFLY_CHECK(stored.starts_with(prefix));
  }

  const auto bound = mayfly::PrefixUpperBound(stored);
  if (!bound) {
    MAYFLY_CHECK(stored.find_first_not_of('\xFF') == std::string_view::npos);
    return 0;
  }
  // Above all that starts with the bytes, and nothing lies between.
  MAYFLY_CHECK(*bound > std::string(stored) + std::string(8, '\xFF'));
  MAYFLY_CHECK(!bound->empty() && bound->back() != '\0');
  std::string below = *bound;
  below.back() = static_cast<char>(below.back() - 1);
  MAYFLY_CHECK(stored.starts_with(below));
  return 0;
}
