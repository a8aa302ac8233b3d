// What a program asks for when it registers a state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/status.h"
#include "mayfly/serde/serializer_contract.h"
#include "mayfly/serde/status_macros.h"
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

// What may be done to stored entries so that they fit what a program asks for.
struct StateMigration {
  // Reads a value that `version` of its serializer wrote, and appends it as the
  // current one writes it.
  using Reserialize = absl::Status (*)(std::uint32_t version,
                                       std::string_view bytes,
                                       std::string& out);

  // Timestamps may be added and taken away.
  bool ttl_allowed = false;
  // Null if only the current version can be read; else versions from this on.
  Reserialize reserialize = nullptr;
  std::uint32_t oldest_version = 0;
};

template <Serializable T>
StateMigration MigrationOf(bool ttl_allowed) {
  static_cast<void>(RequireSerializable<T>());
  StateMigration migration{.ttl_allowed = ttl_allowed};
  if constexpr (ReadsOlderVersions<T>) {
    migration.oldest_version = Serializer<T>::kOldestVersion;
    migration.reserialize = [](std::uint32_t version, std::string_view bytes,
                               std::string& out) {
      T value{};
      MAYFLY_RETURN_IF_ERROR(
          Serializer<T>::DeserializeVersion(version, bytes, value));
      Serializer<T>::Serialize(value, out);
      return absl::OkStatus();
    };
  }
  return migration;
}

struct StateSpec {
  std::string name;
  StateKind kind = StateKind::kValue;
  SerializerIdentity key_serializer;
  // Of the value, the list's element, the map's value, or the accumulator.
  SerializerIdentity value_serializer;
  // Maps only.
  std::optional<SerializerIdentity> map_key_serializer;
  std::optional<StateTtlConfig> ttl;
  StateMigration migration = {};

  // For messages.
  std::string ToString() const;

  // What may be done to stored entries makes no other state.
  friend bool operator==(const StateSpec& a, const StateSpec& b) {
    const auto parts = [](const StateSpec& spec) {
      return std::tie(spec.name, spec.kind, spec.key_serializer,
                      spec.value_serializer, spec.map_key_serializer, spec.ttl);
    };
    return parts(a) == parts(b);
  }
};

}  // namespace mayfly::state_internal
