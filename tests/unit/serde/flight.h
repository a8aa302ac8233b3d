// A user's type with its serializer, as serializer.h shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mayfly/serde/serializer.h"

namespace mayfly::serde_test {

struct Flight {
  std::int64_t time_ms = 0;
  std::string origin;
  std::optional<double> delay_minutes;

  friend bool operator==(const Flight&, const Flight&) = default;
};

}  // namespace mayfly::serde_test

template <>
struct mayfly::Serializer<mayfly::serde_test::Flight> {
  using Flight = mayfly::serde_test::Flight;

  static SerializerIdentity Identity() { return {"test.Flight", 3}; }

  static void Serialize(const Flight& flight, std::string& out) {
    AppendFields(out, flight.time_ms, flight.origin, flight.delay_minutes);
  }

  static absl::Status Deserialize(std::string_view bytes, Flight& flight) {
    return ReadFields(bytes, flight.time_ms, flight.origin,
                      flight.delay_minutes);
  }
};
