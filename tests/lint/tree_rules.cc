#include <algorithm>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "tests/lint/rules.h"

namespace mayfly::lint {
namespace {

constexpr std::string_view kCMakeFile = "CMakeLists.txt";

// The folder of `path` with its slash; empty in the root.
std::string FolderOf(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/') + 1));
}

bool IsCMake(const SourceFile& file) {
  return file.path.ends_with(kCMakeFile) || file.path.ends_with(".cmake");
}

// Whether `text` has `name` as a whole word among paths.
bool Names(std::string_view text, std::string_view name) {
  const auto is_part = [](char c) {
    return std::string_view(" \n\t()\"").find(c) == std::string_view::npos;
  };
  for (std::size_t at = text.find(name); at != text.npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_part(text[at - 1])) &&
        (end == text.size() || !is_part(text[end]))) {
      return true;
    }
  }
  return false;
}

bool IsNamedInCMake(const std::vector<SourceFile>& tree,
                    const std::string& path) {
  return std::ranges::any_of(tree, [&](const SourceFile& file) {
    const std::string base = FolderOf(file.path);
    if (!IsCMake(file)) return false;
    if (Names(file.text, "${PROJECT_SOURCE_DIR}/" + path)) return true;
    if (!path.starts_with(base)) return false;
    const std::string name = path.substr(base.size());
    return Names(file.text, name) ||
           Names(file.text, "${CMAKE_CURRENT_SOURCE_DIR}/" + name);
  });
}

// The root, and the foreign projects that tests build on their own.
bool IsProjectOfItsOwn(const SourceFile& cmake_file) {
  return cmake_file.text.find("\nproject(") != std::string::npos;
}

bool IsAdded(const std::vector<SourceFile>& tree, const SourceFile& added) {
  std::string folder = FolderOf(added.path);
  folder.pop_back();
  return std::ranges::any_of(tree, [&](const SourceFile& file) {
    const std::string base = FolderOf(file.path);
    return file.path.ends_with(kCMakeFile) && folder.starts_with(base) &&
           file.text.find("add_subdirectory(" + folder.substr(base.size()) +
                          ")") != std::string::npos;
  });
}

// Lines without the indentation that all of them share.
std::vector<std::string> Dedented(std::vector<std::string> lines) {
  std::size_t shared = std::string::npos;
  for (const std::string& line : lines) {
    shared = std::min(shared, line.find_first_not_of(' '));
  }
  for (std::string& line : lines) line.erase(0, shared);
  return lines;
}

struct Snippet {
  std::size_t line = 0;
  std::vector<std::string> lines;
};

std::vector<Snippet> SnippetsOf(const SourceFile& page) {
  std::vector<Snippet> snippets;
  std::optional<Snippet> open;
  const std::vector<std::string> lines = Lines(page.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (open && lines[i].starts_with("```")) {
      snippets.push_back(*std::exchange(open, std::nullopt));
    } else if (open) {
      open->lines.push_back(lines[i]);
    } else if (lines[i] == "```cpp") {
      open = Snippet{i + 1, {}};
    }
  }
  return snippets;
}

bool Contains(const std::vector<std::string>& source,
              const std::vector<std::string>& snippet) {
  const auto size = static_cast<std::ptrdiff_t>(snippet.size());
  const std::vector<std::string> wanted = Dedented(snippet);
  for (auto begin = source.begin(); source.end() - begin >= size; ++begin) {
    if (Dedented({begin, begin + size}) == wanted) return true;
  }
  return false;
}

}  // namespace

Findings CheckEverythingIsBuilt(const std::vector<SourceFile>& tree) {
  Findings findings;
  for (const SourceFile& file : tree) {
    if (file.is_cc() && !IsNamedInCMake(tree, file.path)) {
      findings.push_back(file.path +
                         ": no target builds it; name it in the CMakeLists.txt "
                         "of its folder, or delete it");
    }
    if (file.path.ends_with(kCMakeFile) && !IsProjectOfItsOwn(file) &&
        !IsAdded(tree, file)) {
      findings.push_back(file.path +
                         ": not in the build; add_subdirectory() its folder");
    }
  }
  return findings;
}

Findings CheckSnippets(const std::vector<SourceFile>& tree) {
  std::vector<std::vector<std::string>> examples;
  for (const SourceFile& file : tree) {
    if (file.folder() == "examples" && (file.is_cc() || file.is_header())) {
      examples.push_back(Lines(file.text));
    }
  }
  Findings findings;
  for (const SourceFile& page : tree) {
    if (page.path != "README.md" && !page.path.starts_with("docs/")) continue;
    for (const Snippet& snippet : SnippetsOf(page)) {
      if (std::ranges::any_of(examples, [&](const auto& example) {
            return Contains(example, snippet.lines);
          })) {
        continue;
      }
      findings.push_back(page.path + ":" + std::to_string(snippet.line) +
                         ": this C++ is in no file of examples/; copy it from "
                         "one that is built");
    }
  }
  return findings;
}

}  // namespace mayfly::lint
