// The boundary at which exceptions of user code end.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace mayfly::runtime_internal {

// kInternal: `who` threw, and what it said.
absl::Status ThrownBy(std::string_view who, std::string_view what);

// The same error with `where` and ": " before its message.
absl::Status Annotate(const absl::Status& status, std::string_view where);

// "0x445457" for the key DTW; of a long key only the start.
std::string KeyHexPrefix(std::string_view key_bytes);

// Calls what the user gave; its exceptions become kInternal naming `who`.
template <typename Call>
absl::Status GuardedCall(std::string_view who, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::exception& exception) {
    return ThrownBy(who, exception.what());
  } catch (...) {
    return ThrownBy(who, "something that is no std::exception");
  }
}

}  // namespace mayfly::runtime_internal
