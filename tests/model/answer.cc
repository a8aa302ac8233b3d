#include "tests/model/answer.h"

namespace mayfly::model_test {
namespace {

std::string NameOf(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidArgument:
      return "InvalidArgument";
    case Code::kFailedPrecondition:
      return "FailedPrecondition";
    case Code::kOther:
      return "another error";
  }
  return "no code";
}

std::string ToString(const Item& item) {
  return "'" + item.value + "' at " + std::to_string(item.key);
}

}  // namespace

std::string Mismatch(const Allowed& allowed, const Answer& answer) {
  if (answer.code != allowed.code) {
    return "the answer was " + NameOf(answer.code) + " (" + answer.error +
           "), not " + NameOf(allowed.code);
  }
  // What there is is a part of what is allowed, in the same order.
  std::size_t at = 0;
  for (const auto& [item, required] : allowed.items) {
    if (at < answer.items.size() && answer.items[at] == item) {
      ++at;
    } else if (required) {
      return ToString(item) + " is missing" +
             (at < answer.items.size()
                  ? ", and there is " + ToString(answer.items[at])
                  : "");
    }
  }
  if (at < answer.items.size()) {
    return ToString(answer.items[at]) + " should not be there";
  }
  if (at < allowed.items_min || at > allowed.items_max) {
    return std::to_string(at) + " items are there, not " +
           std::to_string(allowed.items_min) + " to " +
           std::to_string(allowed.items_max);
  }
  return "";
}

}  // namespace mayfly::model_test
