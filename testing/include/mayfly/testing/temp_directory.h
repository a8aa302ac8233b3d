// A directory that a test may fill and need not clean up.
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

// Makes an empty directory below the system's directory for temporary files,
// and removes it with all that is in it when it goes. Aborts if that cannot be
// made: without it no test can run.
class TempDirectory {
 public:
  TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory();

  const std::string& path() const { return path_; }

  // The path of something in it.
  std::string Path(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace mayfly
