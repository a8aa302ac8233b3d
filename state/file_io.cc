#include "mayfly/state/internal/file_io.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_copy.h"

namespace mayfly::state_internal {
namespace {

constexpr mode_t kFileMode = 0644;

absl::Status SyncDirectoryOf(const std::string& path) {
  return SyncDirectory(std::filesystem::absolute(path).parent_path().string());
}

std::string LockPath(const std::string& directory) {
  return directory + "/LOCK";
}

// The process that holds a lock, as it wrote itself into the file.
std::string HolderOf(int lock_fd) {
  char holder[32] = {};
  return ::pread(lock_fd, holder, sizeof(holder) - 1, 0) > 0 ? holder
                                                             : "unknown";
}

}  // namespace

absl::Status FileError(int error_number, std::string_view verb,
                       std::string_view path) {
  const std::string text =
      absl::StrCat("cannot ", ToAbsl(verb), " '", ToAbsl(path),
                   "': ", std::strerror(error_number));
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(
          absl::StrCat(text, "; free some space and start again"));
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(
          absl::StrCat(text, "; choose a directory that can be written"));
    case EISDIR:
    case ENOTDIR:
    case EEXIST:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

absl::Status WriteFully(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError(errno, "write", path);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError(errno, "open", path);
  const absl::Cleanup close_fd = [fd] { ::close(fd); };
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got < 0) {
      if (errno == EINTR) continue;
      return FileError(errno, "read", path);
    }
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view bytes, bool sync) {
  const std::string temporary = path + ".tmp";
  absl::Cleanup remove_temporary = [&] { ::unlink(temporary.c_str()); };
  {
    const int fd = ::open(temporary.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
    if (fd < 0) return FileError(errno, "create", temporary);
    const absl::Cleanup close_fd = [fd] { ::close(fd); };
    MAYFLY_RETURN_IF_ERROR(WriteFully(fd, bytes, temporary));
    if (sync && ::fsync(fd) != 0) return FileError(errno, "sync", temporary);
  }
  MAYFLY_RETURN_IF_ERROR(RenameFile(temporary, path, sync));
  std::move(remove_temporary).Cancel();
  return absl::OkStatus();
}

absl::Status RenameFile(const std::string& from, const std::string& to,
                        bool sync) {
  const bool replaces = ::access(to.c_str(), F_OK) == 0;
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return FileError(errno, "rename to", to);
  }
  if (!sync) return absl::OkStatus();
  absl::Status synced = SyncDirectoryOf(to);
  // Whoever is told that it failed must not find it there.
  if (!synced.ok() && !replaces) ::rename(to.c_str(), from.c_str());
  return synced;
}

absl::Status RemoveAll(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return FileError(error.value(), "remove", path);
  return absl::OkStatus();
}

absl::Status MakeDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FileError(error.value(), "create directory", path);
  if (!std::filesystem::is_directory(path, error)) {
    return FileError(ENOTDIR, "use as a directory", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<DirectoryLock> DirectoryLock::Acquire(
    const std::string& directory) {
  const std::string path = LockPath(directory);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (fd < 0) return FileError(errno, "lock", path);
  DirectoryLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileError(errno, "lock", path);
    // Only others who read let us read.
    if (::flock(fd, LOCK_SH | LOCK_NB) == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "'", directory,
          "' is being read, to write a savepoint or to restore from it; wait "
          "until that is done, or use another directory"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat("'", directory, "' is in use by process ", HolderOf(fd),
                     "; stop it first, or use another directory"));
  }
  // For the message above only: the lock itself is what counts.
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    return FileError(errno, "write", path);
  }
  return lock;
}

absl::StatusOr<DirectoryLock> DirectoryLock::AcquireForReading(
    const std::string& directory) {
  const std::string path = LockPath(directory);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return DirectoryLock();
  if (fd < 0) return FileError(errno, "lock", path);
  DirectoryLock lock(fd);
  if (::flock(fd, LOCK_SH | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return FileError(errno, "lock", path);
  return absl::FailedPreconditionError(absl::StrCat(
      "'", directory, "' is in use by process ", HolderOf(fd),
      "; stop it first, or have it take a checkpoint and read that"));
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace mayfly::state_internal
