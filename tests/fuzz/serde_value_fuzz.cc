// The first byte chooses a type; the rest is its stored form. What is read,
// written again, is the same bytes; what is refused is refused with kDataLoss.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/test/test_message.pb.h"
#include "tests/unit/serde/flight.h"

namespace {

template <typename T>
void TryType(std::string_view bytes) {
  const absl::StatusOr<T> value = mayfly::FromBytes<T>(bytes);
  if (value.ok()) {
    MAYFLY_CHECK(mayfly::ToBytes(*value) == bytes);
  } else {
    MAYFLY_CHECK(value.status().code() == absl::StatusCode::kDataLoss);
  }
}

// A message has many spellings: repeated fields, unknown ones, long varints.
// What is read is written in one of them, which is then the only one.
void TryMessage(std::string_view bytes) {
  using mayfly::test::TestMessage;
  const auto message = mayfly::FromBytes<TestMessage>(bytes);
  if (!message.ok()) return;
  const std::string written = mayfly::ToBytes(*message);
  const auto again = mayfly::FromBytes<TestMessage>(written);
  MAYFLY_CHECK(again.ok());
  MAYFLY_CHECK(mayfly::ToBytes(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using Function = void (*)(std::string_view);
  constexpr Function kTypes[] = {
      TryType<bool>,
      TryType<std::int32_t>,
      TryType<double>,
      TryType<std::optional<std::string>>,
      TryType<std::pair<std::string, std::int16_t>>,
      TryType<std::tuple<bool, std::string, std::optional<std::int8_t>>>,
      TryType<std::array<std::string, 3>>,
      TryType<std::vector<bool>>,
      TryType<std::vector<std::string>>,
      TryType<std::map<std::string, std::int16_t>>,
      TryType<std::unordered_map<std::int8_t, std::vector<std::string>>>,
      TryType<std::map<std::string, std::map<std::string, bool>>>,
      TryType<mayfly::serde_test::Flight>,
      TryMessage,
  };
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  kTypes[data[0] % std::size(kTypes)](bytes);
  return 0;
}
