// How much work a run does.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mayfly::bench {

struct Scale {
  int repetitions = 0;
  // Changes between two commits, unless the table asks for one earlier.
  std::size_t commit_every = 0;

  // On RocksDB: stored entries, and operations of one repetition.
  std::size_t keys = 0;
  std::size_t operations = 0;
  // Of those there are ten entries in each map.
  std::size_t maps = 0;
  // Lists of a thousand elements, or of how many.
  std::size_t long_lists = 0;
  std::size_t long_list_elements = 0;

  // In memory: keys of the small and the large table.
  std::size_t heap_keys = 0;
  std::size_t heap_keys_large = 0;
  std::size_t heap_operations = 0;
};

// "smoke" shows that everything runs; "quick" takes a minute or two, "default"
// about ten, "full" what a nightly run has time for.
std::optional<Scale> ScaleNamed(std::string_view name);

}  // namespace mayfly::bench
