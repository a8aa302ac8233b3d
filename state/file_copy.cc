#include "mayfly/state/internal/file_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/crc32c.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::state_internal {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// Reads a file piece by piece.
absl::StatusOr<FileDigest> ReadPieces(
    const std::string& path,
    const std::function<absl::Status(std::string_view piece)>& take) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError(errno, "open", path);
  const absl::Cleanup close_fd = [fd] { ::close(fd); };
  FileDigest digest;
  std::string buffer(kPieceBytes, '\0');
  while (true) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FileError(errno, "read", path);
    if (size == 0) return digest;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(size));
    digest.bytes += piece.size();
    digest.crc32c = ExtendCrc32c(digest.crc32c, piece);
    MAYFLY_RETURN_IF_ERROR(take(piece));
  }
}

}  // namespace

absl::StatusOr<FileDigest> DigestFile(const std::string& path) {
  return ReadPieces(path, [](std::string_view) { return absl::OkStatus(); });
}

absl::StatusOr<FileDigest> CopyFile(const std::string& from,
                                    const std::string& to, bool sync) {
  const int fd =
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError(errno, "create", to);
  absl::StatusOr<FileDigest> digest = ReadPieces(
      from, [&](std::string_view piece) { return WriteFully(fd, piece, to); });
  if (digest.ok() && sync && ::fsync(fd) != 0) {
    digest = FileError(errno, "sync", to);
  }
  if (::close(fd) != 0 && digest.ok()) digest = FileError(errno, "write", to);
  return digest;
}

absl::StatusOr<bool> LinkFile(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return true;
  switch (errno) {
    case EXDEV:
    case EPERM:
    case EMLINK:
    case ENOSYS:
    case EOPNOTSUPP:
      return false;
    default:
      return FileError(errno, "link", to);
  }
}

absl::Status SyncDirectory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError(errno, "open", path);
  const absl::Cleanup close_fd = [fd] { ::close(fd); };
  if (::fsync(fd) != 0) return FileError(errno, "sync", path);
  return absl::OkStatus();
}

absl::Status SyncTree(const std::string& path) {
  namespace fs = std::filesystem;
  MAYFLY_RETURN_IF_ERROR(SyncDirectory(path));
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end;
       !error && at != end; at.increment(error)) {
    if (!at->is_directory(error)) continue;
    MAYFLY_RETURN_IF_ERROR(SyncDirectory(at->path().string()));
  }
  return error ? FileError(error.value(), "list", path) : absl::OkStatus();
}

}  // namespace mayfly::state_internal
