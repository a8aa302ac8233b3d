// Every format that serde writes, with samples of it.
#pragma once

#include <vector>

#include "tests/golden/golden_file.h"

namespace mayfly::golden {

// Timestamp, entries, lists and keys.
std::vector<Format> StorageFormats();

// One format for each built-in serializer, and one for a user's type.
std::vector<Format> SerializerFormats();

}  // namespace mayfly::golden
