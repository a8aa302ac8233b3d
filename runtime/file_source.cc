#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mayfly/runtime/source.h"
#include "mayfly/serde/status_macros.h"
#include "runtime/line_reader.h"

namespace mayfly {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr std::size_t kLineBytesMax = std::size_t{1} << 30;

class FileSource final : public Source {
 public:
  FileSource(std::string path, const FileSourceOptions& options)
      : path_(std::move(path)),
        name_(path_ == kStandardInput ? "standard input" : path_),
        line_bytes_max_(options.line_bytes_max) {}

  ~FileSource() override {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }

  const std::string& name() const override { return name_; }

  absl::Status Open() override {
    if (line_bytes_max_ < 1 || line_bytes_max_ > kLineBytesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("FileSourceOptions.line_bytes_max is ", line_bytes_max_,
                       "; give 1 to ", kLineBytesMax));
    }
    fd_ = path_ == kStandardInput ? STDIN_FILENO
                                  : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (fd_ < 0 || ::fstat(fd_, &status) != 0) return CannotOpen(errno);
    if (S_ISDIR(status.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name_,
                       "' is a directory; give a file, or - for "
                       "standard input"));
    }
    if (S_ISREG(status.st_mode)) {
      // Standard input may be a file that somebody has read the start of.
      start_ = static_cast<std::uint64_t>(
          std::max<off_t>(::lseek(fd_, 0, SEEK_CUR), 0));
      total_bytes_ =
          static_cast<std::uint64_t>(status.st_size) -
          std::min(start_, static_cast<std::uint64_t>(status.st_size));
    }
    return absl::OkStatus();
  }

  absl::Status SeekTo(const SourcePosition& position) override {
    reader_.emplace(fd_, name_, line_bytes_max_);
    if (position.bytes == 0) return absl::OkStatus();
    MAYFLY_ASSIGN_OR_RETURN(const char last, total_bytes_
                                                 ? SeekPast(position.bytes)
                                                 : ReadPast(position.bytes));
    reader_->StartAt(position, /*inside_line=*/last != '\n');
    return absl::OkStatus();
  }

  absl::StatusOr<SourceRead> Next(SourceLine& line) override {
    return reader_->Next(line);
  }

  std::optional<std::uint64_t> total_bytes() const override {
    return total_bytes_;
  }

 private:
  absl::Status CannotOpen(int error_number) const {
    const std::string text = absl::StrCat("cannot open input '", name_,
                                          "': ", std::strerror(error_number));
    switch (error_number) {
      case ENOENT:
      case ENOTDIR:
        return absl::NotFoundError(absl::StrCat(
            text, "; give a file that is there, or - for standard input"));
      case EACCES:
      case EPERM:
        return absl::PermissionDeniedError(
            absl::StrCat(text, "; give this user the right to read it"));
      default:
        return absl::UnavailableError(text);
    }
  }

  absl::Status TooShort(std::uint64_t bytes, std::uint64_t wanted) const {
    return absl::FailedPreconditionError(absl::StrCat(
        "input '", name_, "' has ", bytes, " bytes, and the job had read ",
        wanted,
        " of it: it is another one, or was cut; give the same input, "
        "or a new state directory to start anew"));
  }

  // Goes past so many bytes; the last one of them.
  absl::StatusOr<char> SeekPast(std::uint64_t bytes) {
    if (bytes > *total_bytes_) return TooShort(*total_bytes_, bytes);
    const auto last_at = static_cast<off_t>(start_ + bytes - 1);
    char last = 0;
    if (::pread(fd_, &last, 1, last_at) != 1 ||
        ::lseek(fd_, last_at + 1, SEEK_SET) < 0) {
      return absl::UnavailableError(absl::StrCat("cannot read input '", name_,
                                                 "': ", std::strerror(errno)));
    }
    return last;
  }

  absl::StatusOr<char> ReadPast(std::uint64_t bytes) {
    std::vector<char> skipped(std::size_t{64} << 10);
    std::uint64_t left = bytes;
    char last = 0;
    while (left > 0) {
      const ssize_t got = ::read(fd_, skipped.data(),
                                 std::min<std::uint64_t>(left, skipped.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return absl::UnavailableError(absl::StrCat(
            "cannot read input '", name_, "': ", std::strerror(errno)));
      }
      if (got == 0) return TooShort(bytes - left, bytes);
      left -= static_cast<std::uint64_t>(got);
      last = skipped[static_cast<std::size_t>(got) - 1];
    }
    return last;
  }

  const std::string path_;
  const std::string name_;
  const std::size_t line_bytes_max_;
  int fd_ = -1;
  // Where in the file the input starts.
  std::uint64_t start_ = 0;
  std::optional<std::uint64_t> total_bytes_;
  std::optional<runtime_internal::LineReader> reader_;
};

}  // namespace

std::unique_ptr<Source> MakeFileSource(std::string path,
                                       const FileSourceOptions& options) {
  return std::make_unique<FileSource>(std::move(path), options);
}

}  // namespace mayfly
