// A serializer that says from which version on it reads, and not how, is told
// so in words.
#include <cstdint>
#include <string>
#include <string_view>

#include "mayfly/serde/serializer.h"

struct Flight {
  std::int64_t time_ms = 0;
};

template <>
struct mayfly::Serializer<Flight> {
  static SerializerIdentity Identity() { return {"airports.Flight", 2}; }
  static void Serialize(const Flight& flight, std::string& out) {
    AppendFields(out, flight.time_ms);
  }
  static absl::Status Deserialize(std::string_view bytes, Flight& flight) {
    return ReadFields(bytes, flight.time_ms);
  }
#ifdef MAYFLY_EXPECT_COMPILE_ERROR
  static constexpr std::uint32_t kOldestVersion = 1;
#endif
};

template struct mayfly::RequireSerializable<Flight>;
