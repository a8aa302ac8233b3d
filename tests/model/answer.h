// What an operation gives back, and what it may give back.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace mayfly::model_test {

enum class Code { kOk, kInvalidArgument, kFailedPrecondition, kOther };

// One thing seen: `key` is a map key or a state, where there are several.
struct Item {
  int key = 0;
  std::string value;

  friend bool operator==(const Item&, const Item&) = default;
};

struct Answer {
  Code code = Code::kOk;
  // Why, for people.
  std::string error;
  // A list's in its order, a map's by their keys.
  std::vector<Item> items;
};

struct AllowedItem {
  Item item;
  // It must be there.
  bool required = true;
};

// All answers that are right. There are several only where the library leaves
// open when clean-up reaches what has expired.
struct Allowed {
  Code code = Code::kOk;
  std::vector<AllowedItem> items = {};
  std::size_t items_min = 0;
  std::size_t items_max = std::numeric_limits<std::size_t>::max();
};

// What is wrong with an answer; empty if nothing is.
std::string Mismatch(const Allowed& allowed, const Answer& answer);

}  // namespace mayfly::model_test
