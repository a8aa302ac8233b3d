// The boundary at which exceptions of user code end.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace mayfly {

// kInternal: `who` threw, and what it said.
absl::Status ThrownBy(std::string_view who, std::string_view what);

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

}  // namespace mayfly
