// Every format that serde writes.
#include "tests/golden/serde_formats.h"

#include <utility>

namespace mayfly::golden {

std::vector<Format> AllFormats() {
  std::vector<Format> formats = StorageFormats();
  for (Format& format : SerializerFormats()) {
    formats.push_back(std::move(format));
  }
  return formats;
}

}  // namespace mayfly::golden
