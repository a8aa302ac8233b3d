#include "mayfly/serde/internal/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mayfly::serde_internal {

void CheckFailed(const char* file, int line, const char* condition,
                 std::string_view text) {
  std::string message = std::string(file) + ":" + std::to_string(line) +
                        ": check failed: " + condition;
  if (!text.empty()) message.append(": ").append(text);
  message.push_back('\n');
  std::fputs(message.c_str(), stderr);
  std::abort();
}

}  // namespace mayfly::serde_internal
