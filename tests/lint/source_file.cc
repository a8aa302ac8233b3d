#include "tests/lint/source_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

namespace mayfly::lint {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kExtensions = {
    ".cc", ".cmake", ".h", ".md", ".proto", ".sh", ".txt"};

bool IsSkippedFolder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with('.') || name.starts_with("build") ||
         name.starts_with("cmake-build");
}

std::string Read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where the token ends that starts at `begin` and that CodeOnly blanks out;
// `begin` itself if none starts there.
std::size_t BlankedTokenEnd(std::string_view text, std::size_t begin) {
  const auto after = [&](std::string_view closing, std::size_t from) {
    const std::size_t found = text.find(closing, from);
    return found == text.npos ? text.size() : found + closing.size();
  };
  const std::string_view rest = text.substr(begin);
  if (rest.starts_with("//"))
    return std::min(text.find('\n', begin), text.size());
  if (rest.starts_with("/*")) return after("*/", begin + 2);
  if (rest.starts_with("R\"")) {
    const std::size_t open = rest.find('(');
    if (open == rest.npos) return text.size();
    const std::string closing =
        ")" + std::string(rest.substr(2, open - 2)) + '"';
    return after(closing, begin + open);
  }
  const char quote = rest.front();
  // An apostrophe inside a word separates digits: 3'600.
  const bool separates_digits =
      quote == '\'' && begin > 0 && IsWordCharacter(text[begin - 1]);
  if ((quote != '"' && quote != '\'') || separates_digits) return begin;
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != quote && text[end] != '\n') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, text.size());
}

}  // namespace

std::string_view SourceFile::folder() const {
  const std::size_t slash = path.find('/');
  if (slash == path.npos) return {};
  return std::string_view(path).substr(0, slash);
}

bool SourceFile::is_cc() const { return path.ends_with(".cc"); }

bool SourceFile::is_header() const { return path.ends_with(".h"); }

bool SourceFile::is_public_header() const {
  const std::string include_root = std::string(folder()) + "/include/mayfly/";
  return is_header() && path.starts_with(include_root) &&
         path.find("/internal/") == path.npos;
}

std::vector<SourceFile> ReadTree(const fs::path& root) {
  std::vector<SourceFile> files;
  fs::recursive_directory_iterator it(root);
  for (; it != fs::end(it); ++it) {
    if (it->is_directory() && IsSkippedFolder(it->path())) {
      it.disable_recursion_pending();
      continue;
    }
    const std::string extension = it->path().extension().string();
    if (!it->is_regular_file() ||
        std::ranges::find(kExtensions, extension) == kExtensions.end()) {
      continue;
    }
    files.push_back({it->path().lexically_relative(root).generic_string(),
                     Read(it->path())});
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string CodeOnly(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = BlankedTokenEnd(text, i);
    for (std::size_t j = i; j < end; ++j) {
      if (code[j] != '\n') code[j] = ' ';
    }
    i = std::max(end, i + 1);
  }
  return code;
}

}  // namespace mayfly::lint
