// Files of tests, and rights that even root may lack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

void WriteFile(const std::string& path, std::string_view bytes);
void AppendToFile(const std::string& path, std::string_view bytes);
std::string ReadWholeFile(const std::string& path);

// The lines of a file, or of the part files of a directory, one after another.
std::vector<std::string> LinesOf(const std::string& path);

// Does without root's power over files while it lives.
class WithoutRoot {
 public:
  WithoutRoot();
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;
  ~WithoutRoot();

 private:
  const bool was_root_;
};

}  // namespace mayfly
