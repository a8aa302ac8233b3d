// Protobuf messages, as they serialise themselves. Costs no include of protobuf
// where no message is used.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mayfly/serde/serializer_contract.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace mayfly {

namespace serde_internal {

std::string MessageTypeName(const google::protobuf::MessageLite& message);
void AppendMessage(const google::protobuf::MessageLite& message,
                   std::string& out);
absl::Status ParseMessage(std::string_view bytes,
                          google::protobuf::MessageLite& out);

}  // namespace serde_internal

// The message's own bytes, map fields in a fixed order. Missing required fields
// (proto2) are no error on either side: what was stored is read back.
// Range: under 2 GiB, protobuf's limit; a larger message aborts.
template <std::derived_from<google::protobuf::MessageLite> T>
struct Serializer<T> {
  // "proto:" and the full name. The version stays 1: a message evolves by the
  // rules of protobuf, which keep old bytes readable.
  static SerializerIdentity Identity() {
    return {"proto:" + serde_internal::MessageTypeName(T()), 1};
  }

  static void Serialize(const T& message, std::string& out) {
    serde_internal::AppendMessage(message, out);
  }

  static absl::Status Deserialize(std::string_view bytes, T& out) {
    return serde_internal::ParseMessage(bytes, out);
  }
};

}  // namespace mayfly
