#include "runtime/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::runtime_internal {
namespace {

using state_internal::FileError;

constexpr mode_t kFileMode = 0644;

// More than this is written out before the commit; a restart cuts it off.
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

}  // namespace

std::string Numbered(std::string_view prefix, int number) {
  return absl::StrCat(ToAbsl(prefix), absl::Dec(number, absl::kZeroPad5));
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(
    const std::string& path, std::optional<std::uint64_t> committed_bytes) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kFileMode);
  if (fd < 0) return FileError(errno, "open output", path);
  std::unique_ptr<OutputFile> file(
      new OutputFile(fd, path, committed_bytes.value_or(0)));
  MAYFLY_RETURN_IF_ERROR(file->CutTo(committed_bytes));
  return file;
}

std::unique_ptr<OutputFile> OutputFile::Share(
    int fd, std::string name, Mutex& mutex,
    std::optional<std::uint64_t> committed_bytes) {
  std::unique_ptr<OutputFile> file(
      new OutputFile(fd, std::move(name), committed_bytes.value_or(0)));
  file->shared_ = &mutex;
  return file;
}

OutputFile::~OutputFile() {
  if (shared_ == nullptr) ::close(fd_);
}

absl::Status OutputFile::CutTo(std::optional<std::uint64_t> committed_bytes) {
  struct stat status = {};
  if (::fstat(fd_, &status) != 0) return FileError(errno, "look at", name_);
  is_regular_ = S_ISREG(status.st_mode);
  if (!is_regular_) return absl::OkStatus();
  // Goes with the file descriptor. File systems without locks go without.
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat("output '", name_,
                     "' is in use by another job; stop it first, or give "
                     "another output"));
  }
  if (static_cast<std::uint64_t>(status.st_size) < length_) {
    return absl::DataLossError(
        absl::StrCat("output '", name_, "' has ", status.st_size,
                     " bytes, and ", *committed_bytes,
                     " were committed: it was cut, or is another one; put "
                     "it back, or start anew with a new state directory and "
                     "another output"));
  }
  const auto length = static_cast<off_t>(length_);
  if (::ftruncate(fd_, length) != 0) return FileError(errno, "cut", name_);
  if (::lseek(fd_, length, SEEK_SET) < 0) {
    return FileError(errno, "seek in", name_);
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view line) {
  buffer_.append(line);
  buffer_.push_back('\n');
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : WriteOut();
}

absl::StatusOr<std::uint64_t> OutputFile::Flush(Durability durability) {
  MAYFLY_RETURN_IF_ERROR(WriteOut());
  if (durability == Durability::kMachine && is_regular_) {
    MAYFLY_RETURN_IF_ERROR(Sync());
  }
  return length_;
}

absl::Status OutputFile::WriteOut() {
  if (shared_ == nullptr) {
    MAYFLY_RETURN_IF_ERROR(WriteAll(buffer_));
  } else {
    MutexLock lock(*shared_);
    MAYFLY_RETURN_IF_ERROR(WriteAll(buffer_));
  }
  length_ += buffer_.size();
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status OutputFile::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError(errno, "write to output", name_);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Sync() {
  if (::fsync(fd_) != 0) return FileError(errno, "sync", name_);
  if (std::exchange(directory_synced_, true)) return absl::OkStatus();
  const std::string directory =
      std::filesystem::absolute(name_).parent_path().string();
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError(errno, "open", directory);
  const absl::Cleanup close_fd = [fd] { ::close(fd); };
  return ::fsync(fd) == 0 ? absl::OkStatus()
                          : FileError(errno, "sync", directory);
}

}  // namespace mayfly::runtime_internal
