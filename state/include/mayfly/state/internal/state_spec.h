// What a program asks for when it registers a state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mayfly/serde/serializer_contract.h"
#include "mayfly/state/ttl_config.h"

namespace mayfly::state_internal {

// Stored: the numbers are those of mayfly.v1.StateKind.
enum class StateKind : std::uint8_t {
  kValue = 1,
  kList = 2,
  kMap = 3,
  kReducing = 4,
  kAggregating = 5,
};

struct StateSpec {
  std::string name;
  StateKind kind = StateKind::kValue;
  SerializerIdentity key_serializer;
  // Of the value, the list's element, the map's value, or the accumulator.
  SerializerIdentity value_serializer;
  // Maps only.
  std::optional<SerializerIdentity> map_key_serializer;
  std::optional<StateTtlConfig> ttl;

  // For messages.
  std::string ToString() const;

  friend bool operator==(const StateSpec&, const StateSpec&) = default;
};

}  // namespace mayfly::state_internal
