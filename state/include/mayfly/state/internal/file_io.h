// Files whose failures name the file and the way out.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly::state_internal {

// What the failed system call `verb` on `path` means, from errno.
// Errors: kResourceExhausted for a full disk, kNotFound, kPermissionDenied for
// missing rights and a read-only disk, kUnavailable for the rest.
absl::Status FileError(int error_number, std::string_view verb,
                       std::string_view path);

// Writes all bytes to an open file; `path` is for the message.
// Errors: as FileError(); some bytes may have been written.
absl::Status WriteFully(int fd, std::string_view bytes, std::string_view path);

// Errors: as FileError().
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Replaces a file as one step: after a crash it holds the old bytes or the new
// ones. `sync` waits until the disk has them.
// Errors: as FileError(), and as RenameFile(). Nothing is left of what failed.
absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view bytes, bool sync);

// Moves a complete file or directory to its final name as one step.
// Errors: as FileError(). All is then as it was; but what has been replaced
// stays so if only syncing failed.
absl::Status RenameFile(const std::string& from, const std::string& to,
                        bool sync);

// Removes a file, or a directory with all that is in it, if it is there.
// Errors: as FileError(); some of it may be gone.
absl::Status RemoveAll(const std::string& path);

// Makes a directory and those above it.
// Errors: as FileError(); kInvalidArgument if a file is in the way.
absl::Status MakeDirectory(const std::string& path);

// Holds a directory for one process, or for those that only read it; whoever
// asks for it otherwise is refused.
// Threads: one.  Lifetime: the lock goes with the object, or with the process
// however it ends.
class DirectoryLock {
 public:
  // Errors: kFailedPrecondition naming the directory and the process that
  // holds it; as FileError().
  static absl::StatusOr<DirectoryLock> Acquire(const std::string& directory);

  // For reading: changes nothing, and holds nothing of a directory that nobody
  // has ever held, such as a checkpoint.
  // Errors: as above.
  static absl::StatusOr<DirectoryLock> AcquireForReading(
      const std::string& directory);

  DirectoryLock() = default;
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace mayfly::state_internal
