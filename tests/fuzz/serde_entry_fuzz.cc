// A stored value or map entry. What is read of it, written again, is the same
// bytes; what is refused has no timestamp that could have been written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/timestamp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view stored(reinterpret_cast<const char*>(data), size);
  const auto entry = mayfly::DecodeEntry(stored);
  if (!entry) {
    MAYFLY_CHECK(size < mayfly::kTimestampBytes || data[0] >= 0x80);
    return 0;
  }
  MAYFLY_CHECK(entry->timestamp_ms >= 0);
  std::string written;
  mayfly::AppendTimestamp(entry->timestamp_ms, written);
  written += entry->bytes;
  MAYFLY_CHECK(written == stored);
  return 0;
}
