// Records of a log, as they are read and as they are written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mayfly {

// Lifetime: of whatever it was taken from.
struct Header {
  std::string_view name;
  std::optional<std::string_view> value;

  friend bool operator==(const Header&, const Header&) = default;
};

// A record that was read. It may be moved to another thread and stay there for
// as long as it takes: its bytes are its own, and were copied for nobody.
// Lifetime: of all that it shows, that of `memory`, which moves with it and
// must be gone before the consumer that the record came from.
struct ConsumedRecord {
  std::string_view topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  // nullopt: it has none, which is not the same as an empty one.
  std::optional<std::string_view> key;
  // nullopt: a tombstone.
  std::optional<std::string_view> value;
  // Unit: milliseconds since the Unix epoch, as the producer gave it or, by the
  // topic's settings, when the broker got it; negative if there is none.
  std::int64_t timestamp_ms = -1;
  std::vector<Header> headers;
  std::unique_ptr<void, void (*)(void*)> memory{nullptr, [](void*) {}};
};

// A record to be written.
// Lifetime: Produce() keeps copies.
struct ProducerRecord {
  std::string_view topic;
  std::int32_t partition = 0;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  // Unit: milliseconds since the Unix epoch.  Range: 1 or more.
  std::int64_t timestamp_ms = 0;
  std::span<const Header> headers = {};
};

}  // namespace mayfly
