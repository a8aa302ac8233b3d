// A disk that can be filled, shrunk and made read-only.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

namespace mayfly::e2e {

// A disk of its own for a test, if this user may have one.
class SmallDisk {
 public:
  SmallDisk(std::string path, const char* size) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0,
                       (std::string("size=") + size).c_str()) == 0;
    if (!mounted_) why_not_ = std::strerror(errno);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }
  const std::string& why_not() const { return why_not_; }

  void Resize(const char* size) { Remount(0, size); }
  void MakeReadOnly() { Remount(MS_RDONLY, "100%"); }

 private:
  void Remount(unsigned long flags, const char* size) {
    EXPECT_EQ(::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | flags,
                      (std::string("size=") + size).c_str()),
              0)
        << std::strerror(errno);
  }

  std::string path_;
  bool mounted_ = false;
  std::string why_not_;
};

}  // namespace mayfly::e2e
