// Copies of files, by link where the disk can do that.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly::state_internal {

// What tells a damaged copy from a good one.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Errors: as FileError().
absl::StatusOr<FileDigest> DigestFile(const std::string& path);

// Copies the bytes; a file that is in the way is replaced. `sync` waits until
// the disk has them.
// Errors: as FileError(); what was copied of it may stay.
absl::StatusOr<FileDigest> CopyFile(const std::string& from,
                                    const std::string& to, bool sync);

// Gives a file a second name; false if they would be on different file systems
// or the file system has no such links.
// Errors: as FileError().
absl::StatusOr<bool> LinkFile(const std::string& from, const std::string& to);

// Waits until the disk knows which files are in a directory.
// Errors: as FileError().
absl::Status SyncDirectory(const std::string& path);

// The same for a directory and all below it.
// Errors: as FileError().
absl::Status SyncTree(const std::string& path);

}  // namespace mayfly::state_internal
