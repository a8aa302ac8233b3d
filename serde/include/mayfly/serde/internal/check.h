// Always-on assertion, for our own bugs only: data from disk or the network is
// input and gets an absl::Status instead.
//
//   MAYFLY_CHECK(shards > 0);
//   MAYFLY_CHECK(batch.empty(), "a commit left writes behind");
#pragma once

#include <string_view>

// Aborts with file, line, the condition and the optional text unless the
// condition holds. A condition with a bare comma needs its own parentheses.
#define MAYFLY_CHECK(condition, ...)            \
  (static_cast<bool>(condition)                 \
       ? static_cast<void>(0)                   \
       : ::mayfly::serde_internal::CheckFailed( \
             __FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__))

namespace mayfly::serde_internal {

// Prints one line to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view text = {});

}  // namespace mayfly::serde_internal
