// The contract of Serializer<T>. Include "mayfly/serde/serializer.h", which
// brings the built-in types along.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// Who wrote stored bytes. Checkpoints and savepoints record it, and a restore
// compares it with the serializer of the program that reads them.
struct SerializerIdentity {
  // Dotted and never reused for another type: "airports.Flight".
  std::string name;

  // Raised whenever the bytes of equal values change.
  std::uint32_t version = 1;

  // "name@version".
  std::string ToString() const { return name + "@" + std::to_string(version); }

  friend bool operator==(const SerializerIdentity&,
                         const SerializerIdentity&) = default;
};

// Turns values of T into bytes and back. Specialise it for your own types; a
// specialisation has these static members:
//
//   SerializerIdentity Identity();
//
//   // Appends the whole form of the value: no delimiter, no length of its own.
//   // Equal values give equal bytes and different ones different bytes, else T
//   // cannot be a key.
//   void Serialize(const T& value, std::string& out);
//
//   // Reads a value from exactly its whole form.
//   // Errors: kDataLoss with a reason if no value has these bytes; `out` is
//   // then in no particular state. Bytes from disk may be anything: never
//   // abort on them and never read past their end.
//   absl::Status Deserialize(std::string_view bytes, T& out);
//
//   // Optional: the bytes of every value, if they all take the same number.
//   // Within a larger value such a type needs no length before it.
//   constexpr std::size_t kFixedSize;
//
//   // Optional, both together: values that earlier versions have written, from
//   // kOldestVersion on, can still be read. A state that holds such values is
//   // rewritten when it is registered; one with such keys is refused, since
//   // other bytes would be other keys. `version` is one of these, below that
//   of
//   // Identity().
//   // Errors: as Deserialize().
//   static constexpr std::uint32_t kOldestVersion = 1;
//   absl::Status DeserializeVersion(std::uint32_t version,
//                                   std::string_view bytes, T& out);
//
// Threads: all are called from several threads at once.
template <typename T>
struct Serializer;

// Types that have a Serializer.
template <typename T>
concept Serializable = std::default_initializable<T> && std::movable<T> &&
    requires(const T& value, T& target, std::string& out,
             std::string_view bytes) {
  { Serializer<T>::Identity() } -> std::same_as<SerializerIdentity>;
  { Serializer<T>::Serialize(value, out) } -> std::same_as<void>;
  { Serializer<T>::Deserialize(bytes, target) } -> std::same_as<absl::Status>;
};

// Types of which values that an earlier version has written can be read.
template <typename T>
concept ReadsOlderVersions = Serializable<T> &&
    requires(std::uint32_t version, std::string_view bytes, T& target) {
  { Serializer<T>::kOldestVersion } -> std::convertible_to<std::uint32_t>;
  {
    Serializer<T>::DeserializeVersion(version, bytes, target)
    } -> std::same_as<absl::Status>;
};

// Whether a serializer has any part of what reads older versions.
template <typename T>
inline constexpr bool kMentionsOlderVersions = requires {
  Serializer<T>::kOldestVersion;
}
|| requires { &Serializer<T>::DeserializeVersion; };

// Instantiate it where a user's type arrives, for an error people can read.
template <typename T>
struct RequireSerializable {
  static_assert(Serializable<T>,
                "This type has no mayfly::Serializer. Specialise "
                "mayfly::Serializer<T> for it as the example in "
                "mayfly/serde/serializer.h shows; T must also be default "
                "constructible and movable.");
  static_assert(!kMentionsOlderVersions<T> || ReadsOlderVersions<T>,
                "This mayfly::Serializer reads older versions by half. Give it "
                "both kOldestVersion and DeserializeVersion(), as "
                "mayfly/serde/serializer_contract.h has them.");
};

// Types all of whose values take the same number of bytes. One that takes none
// does not count, so that every element of a container takes at least a byte
// and a stored count can be checked against the bytes that are there.
template <typename T>
concept FixedSize = (Serializer<T>::kFixedSize > 0) && Serializable<T>;

// The whole form of a value.
template <Serializable T>
std::string ToBytes(const T& value) {
  std::string out;
  Serializer<T>::Serialize(value, out);
  return out;
}

// The value whose whole form this is.
// Errors: kDataLoss if there is none.
template <Serializable T>
absl::StatusOr<T> FromBytes(std::string_view bytes) {
  T value{};
  absl::Status status = Serializer<T>::Deserialize(bytes, value);
  if (!status.ok()) return status;
  return value;
}

}  // namespace mayfly
