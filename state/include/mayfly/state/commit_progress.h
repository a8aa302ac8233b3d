// How far a commit is.
#pragma once

#include <cstdint>

namespace mayfly {

enum class CommitProgress : std::uint8_t {
  // There are entries that have yet to be taken out of the tables.
  kSaving,
  // All have been; a thread compresses them and writes the file.
  kWriting,
  // Finishing it takes no time to speak of.
  kReady,
};

}  // namespace mayfly
