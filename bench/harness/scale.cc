#include "bench/harness/scale.h"

namespace mayfly::bench {
namespace {

constexpr Scale kSmoke = {.repetitions = 1,
                          .commit_every = 200,
                          .keys = 1'000,
                          .operations = 500,
                          .maps = 100,
                          .long_lists = 20,
                          .long_list_elements = 50,
                          .heap_keys = 1'000,
                          .heap_keys_large = 10'000,
                          .heap_operations = 1'000};

constexpr Scale kQuick = {.repetitions = 5,
                          .commit_every = 10'000,
                          .keys = 50'000,
                          .operations = 10'000,
                          .maps = 5'000,
                          .long_lists = 200,
                          .long_list_elements = 200,
                          .heap_keys = 100'000,
                          .heap_keys_large = 500'000,
                          .heap_operations = 100'000};

// Commits come as often as a job makes them if nothing else is said.
constexpr Scale kDefault = {.repetitions = 5,
                            .commit_every = 100'000,
                            .keys = 1'000'000,
                            .operations = 100'000,
                            .maps = 100'000,
                            .long_lists = 2'000,
                            .long_list_elements = 1'000,
                            .heap_keys = 1'000'000,
                            .heap_keys_large = 5'000'000,
                            .heap_operations = 1'000'000};

constexpr Scale kFull = {.repetitions = 9,
                         .commit_every = 100'000,
                         .keys = 1'000'000,
                         .operations = 500'000,
                         .maps = 1'000'000,
                         .long_lists = 2'000,
                         .long_list_elements = 1'000,
                         .heap_keys = 1'000'000,
                         .heap_keys_large = 5'000'000,
                         .heap_operations = 5'000'000};

}  // namespace

std::optional<Scale> ScaleNamed(std::string_view name) {
  if (name == "smoke") return kSmoke;
  if (name == "quick") return kQuick;
  if (name == "default") return kDefault;
  if (name == "full") return kFull;
  return std::nullopt;
}

}  // namespace mayfly::bench
