#include "mayfly/testing/temp_directory.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "mayfly/serde/internal/check.h"

namespace mayfly {

TempDirectory::TempDirectory()
    : path_(std::filesystem::temp_directory_path() / "mayfly-XXXXXX") {
  MAYFLY_CHECK(::mkdtemp(path_.data()) != nullptr,
               "no temporary directory can be made");
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDirectory::Path(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

}  // namespace mayfly
