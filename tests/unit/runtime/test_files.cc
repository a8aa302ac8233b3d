#include "tests/unit/runtime/test_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mayfly/serde/internal/check.h"

namespace mayfly {
namespace {

constexpr uid_t kNobody = 65534;

void AppendLines(const std::string& path, std::vector<std::string>& lines) {
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
}

}  // namespace

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void AppendToFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

std::string ReadWholeFile(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> parts;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      parts.push_back(entry.path().string());
    }
    std::ranges::sort(parts);
  } else {
    parts.push_back(path);
  }
  std::vector<std::string> lines;
  for (const std::string& part : parts) AppendLines(part, lines);
  return lines;
}

WithoutRoot::WithoutRoot() : was_root_(::geteuid() == 0) {
  if (was_root_) MAYFLY_CHECK(::seteuid(kNobody) == 0);
}

WithoutRoot::~WithoutRoot() {
  if (was_root_) MAYFLY_CHECK(::seteuid(0) == 0);
}

}  // namespace mayfly
