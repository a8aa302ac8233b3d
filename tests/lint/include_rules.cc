#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "tests/lint/rules.h"

namespace mayfly::lint {
namespace {

// The libraries from top to bottom: each may include those after it.
constexpr std::array<std::string_view, 8> kLayers = {
    "testing", "kafka",      "runtime", "log",
    "state",   "compaction", "serde",   "proto"};

// Programs: they include the layers, and nothing includes them.
constexpr std::array<std::string_view, 4> kPrograms = {"tests", "bench",
                                                       "examples", "tools"};

// Programs that may include internal headers, being proof of what those do.
constexpr std::array<std::string_view, 2> kSeesInternals = {"tests", "bench"};

template <typename Names>
bool Has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool IsOurs(std::string_view folder) {
  return Has(kLayers, folder) || Has(kPrograms, folder);
}

struct Include {
  std::size_t line = 0;
  std::string path;
  bool quoted = false;
};

std::vector<Include> IncludesOf(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> includes;
  const std::vector<std::string> lines = Lines(file.text);
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_match(lines[i], match, pattern)) continue;
    includes.push_back({i + 1, match[2], match[1] == "\""});
  }
  return includes;
}

// The folder of ours that a header belongs to, as its include path shows.
struct Owner {
  std::string folder;
  bool internal = false;
};

std::optional<Owner> OwnerOf(const std::string& include) {
  static const std::regex pattern("(mayfly/)?([a-z0-9_]+)/.*");
  std::smatch match;
  if (!std::regex_match(include, match, pattern)) return std::nullopt;
  const bool is_public = match[1].matched;
  const std::string folder = match[2];
  if (is_public && folder == "v1") return Owner{"proto", false};
  if (!IsOurs(folder)) return std::nullopt;
  return Owner{folder, !is_public};
}

// Why `folder` may not include a header of `owner`; empty if it may.
std::string WhyForbidden(std::string_view folder, const Owner& owner) {
  if (folder == owner.folder) return "";
  if (Has(kPrograms, owner.folder)) {
    return "belongs to a program; nothing includes those";
  }
  const auto layer = std::ranges::find(kLayers, folder);
  const auto below = std::ranges::find(kLayers, owner.folder);
  if (layer != kLayers.end() && below < layer) {
    return "points up: " + std::string(folder) + " lies below " + owner.folder +
           "; pass it down as an interface";
  }
  if (owner.internal && !Has(kSeesInternals, folder)) {
    return "is internal to " + owner.folder +
           "; use a public header, \"mayfly/" + owner.folder + "/...\"";
  }
  return "";
}

std::string Finding(const SourceFile& file, const Include& include,
                    const std::string& what) {
  return file.path + ":" + std::to_string(include.line) + ": \"" +
         include.path + "\" " + what;
}

}  // namespace

Findings CheckIncludes(const SourceFile& file) {
  Findings findings;
  const std::string_view folder = file.folder();
  for (const Include& include : IncludesOf(file)) {
    if (include.quoted && include.path.find('/') == include.path.npos &&
        IsOurs(folder)) {
      findings.push_back(Finding(
          file, include, "has no folder; write its path from the root"));
      continue;
    }
    const std::optional<Owner> owner = OwnerOf(include.path);
    if (!owner) continue;
    const std::string why = WhyForbidden(folder, *owner);
    if (!why.empty()) findings.push_back(Finding(file, include, why));
    if (include.path.find("/internal/") != include.path.npos &&
        Has(kPrograms, folder) && !Has(kSeesInternals, folder)) {
      findings.push_back(
          Finding(file, include, "is not API; write what a user could"));
    }
  }
  return findings;
}

Findings CheckHidesDependencies(const SourceFile& file) {
  constexpr std::array<std::string_view, 4> kHiding = {"kafka", "log",
                                                       "runtime", "state"};
  // Of compaction's headers the one that users of states see, for which the
  // same holds.
  constexpr char kShown[] = "mayfly/compaction/sweep_options.h";
  Findings findings;
  if (!Has(kHiding, file.folder()) && !file.path.ends_with(kShown)) {
    return findings;
  }
  if (file.path.find("/include/") == file.path.npos) return findings;
  for (const Include& include : IncludesOf(file)) {
    if (include.path.starts_with("rocksdb/") ||
        include.path.starts_with("librdkafka/") ||
        (include.path.starts_with("mayfly/compaction/") &&
         include.path != kShown)) {
      findings.push_back(Finding(
          file, include, "shows a dependency to users; include it in a .cc"));
    }
  }
  return findings;
}

}  // namespace mayfly::lint
