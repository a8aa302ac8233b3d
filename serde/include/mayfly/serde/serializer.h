// Bytes of user values: Serializer<T> for integers, floating point, bool,
// string, optional, pair, tuple, array, vector, maps and protobuf messages, and
// for your own types by one specialisation:
//
//   struct Flight {
//     std::int64_t time_ms = 0;
//     std::string origin;
//     std::optional<double> delay_minutes;
//   };
//
//   template <>
//   struct mayfly::Serializer<Flight> {
//     static SerializerIdentity Identity() { return {"airports.Flight", 1}; }
//     static void Serialize(const Flight& flight, std::string& out) {
//       AppendFields(out, flight.time_ms, flight.origin, flight.delay_minutes);
//     }
//     static absl::Status Deserialize(std::string_view bytes, Flight& flight) {
//       return ReadFields(bytes, flight.time_ms, flight.origin,
//                         flight.delay_minutes);
//     }
//   };
//
// serializer_contract.h says what a specialisation promises; serde/FORMAT.md
// shows every byte.
#pragma once

// IWYU pragma: begin_exports
#include "mayfly/serde/composite_serializers.h"
#include "mayfly/serde/container_serializers.h"
#include "mayfly/serde/fields.h"
#include "mayfly/serde/protobuf_serializer.h"
#include "mayfly/serde/scalar_serializers.h"
#include "mayfly/serde/serializer_contract.h"
// IWYU pragma: end_exports
