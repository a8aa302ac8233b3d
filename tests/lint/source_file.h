// The files of this repository as the lint rules see them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::lint {

struct SourceFile {
  std::string path;  // From the root of the repository, with slashes.
  std::string text;

  // The first folder of `path`; empty for a file in the root.
  std::string_view folder() const;
  bool is_cc() const;
  bool is_header() const;
  // A header that users include and that is API: <folder>/include/..., less
  // the internal ones there.
  bool is_public_header() const;
};

// All text that people wrote: sources, CMake files, protos, pages. Leaves out
// hidden folders and build trees.
std::vector<SourceFile> ReadTree(const std::filesystem::path& root);

std::vector<std::string> Lines(std::string_view text);

// `text` with every comment and the inside of every string and character
// literal blanked out. Line numbers stay the same.
std::string CodeOnly(std::string_view text);

}  // namespace mayfly::lint
