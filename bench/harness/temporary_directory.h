// A directory that goes with its object.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace mayfly::bench {

class TemporaryDirectory {
 public:
  // Beneath $TMPDIR, /tmp by default.
  TemporaryDirectory() {
    static std::atomic<int> made = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("mayfly_bench-" + std::to_string(getpid()) + "-" +
             std::to_string(made++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace mayfly::bench
