// The first byte chooses the format; the rest is a stored list. What is read of
// it, written again, is the bytes that were read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  using mayfly::EntryFormat;
  const EntryFormat format =
      data[0] % 2 == 0 ? EntryFormat::kStamped : EntryFormat::kUnstamped;
  const std::string_view stored(reinterpret_cast<const char*>(data) + 1,
                                size - 1);
  mayfly::ListReader reader(stored, format);
  std::string written;
  while (const auto element = reader.Next()) {
    MAYFLY_CHECK(element->timestamp_ms >= 0);
    if (format == EntryFormat::kStamped) {
      mayfly::AppendListElement(element->timestamp_ms, element->bytes, written);
    } else {
      mayfly::AppendUnstampedListElement(element->bytes, written);
    }
  }
  MAYFLY_CHECK(written + std::string(reader.rest()) == stored);
  MAYFLY_CHECK(reader.malformed() == !reader.rest().empty());
  MAYFLY_CHECK(!reader.Next().has_value());
  return 0;
}
