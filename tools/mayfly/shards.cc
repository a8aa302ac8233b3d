#include "mayfly/shards.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace mayfly::tool {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Children(const std::string& path) {
  std::vector<fs::path> children;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    children.push_back(entry.path());
  }
  std::ranges::sort(children);
  return children;
}

// The number in checkpoint-12 and savepoint-12.
std::optional<std::uint64_t> NumberOf(const fs::path& path) {
  const std::string name = path.filename().string();
  absl::string_view number = name;
  std::uint64_t value = 0;
  if (!absl::ConsumePrefix(&number, "checkpoint-") &&
      !absl::ConsumePrefix(&number, "savepoint-")) {
    return std::nullopt;
  }
  if (!absl::SimpleAtoi(number, &value)) return std::nullopt;
  return value;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ShardsOf(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return absl::NotFoundError(absl::StrCat("there is no '", path, "'"));
  }
  if (!fs::is_directory(path, ignored) ||
      fs::exists(fs::path(path) / "MANIFEST.mayfly", ignored)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> shards;
  std::pair<std::uint64_t, std::string> newest;
  for (const fs::path& child : Children(path)) {
    const std::string name = child.filename().string();
    if (name.starts_with("shard-") && !name.ends_with(".tmp")) {
      shards.push_back(child.string());
    } else if (const auto number = NumberOf(child)) {
      newest = std::max(newest, std::pair(*number, child.string()));
    }
  }
  if (!shards.empty()) return shards;
  if (!newest.second.empty()) return ShardsOf(newest.second);
  return absl::NotFoundError(absl::StrCat(
      "'", path,
      "' is no state: neither a shard's directory, a job's state directory, a "
      "checkpoint, a savepoint, nor a directory of these"));
}

}  // namespace mayfly::tool
