#include "runtime/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::runtime_internal {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr int kIdleWaitMs = 100;

// What is wrong with a line; empty if nothing is.
std::string WhyMalformed(bool inside_line, bool too_long,
                         std::size_t line_bytes_max) {
  if (inside_line) {
    return "continues a line that was processed when the input ended there";
  }
  if (too_long) {
    return absl::StrCat("the line is longer than ", line_bytes_max, " bytes");
  }
  return "";
}

}  // namespace

LineReader::LineReader(int fd, std::string name, std::size_t line_bytes_max)
    : fd_(fd), name_(std::move(name)), line_bytes_max_(line_bytes_max) {}

void LineReader::StartAt(const SourcePosition& position, bool inside_line) {
  position_ = position;
  inside_line_ = inside_line;
}

absl::StatusOr<SourceRead> LineReader::Next(SourceLine& line) {
  while (true) {
    const char* const newline =
        pending() == 0 ? nullptr
                       : static_cast<const char*>(std::memchr(
                             buffer_.data() + scanned_, '\n', end_ - scanned_));
    if (newline != nullptr) {
      const auto at = static_cast<std::size_t>(newline - buffer_.data());
      if (!TakeLine(at - begin_, /*terminated=*/true, line)) continue;
      return line.malformed.empty() ? SourceRead::kLine
                                    : SourceRead::kMalformed;
    }
    scanned_ = end_;
    if (pending() > line_bytes_max_ + 1) {  // A carriage return may be in it.
      dropped_bytes_ += pending();
      begin_ = scanned_ = end_;
    }
    MAYFLY_ASSIGN_OR_RETURN(const SourceRead read, ReadMore());
    if (read == SourceRead::kLine) continue;
    if (read == SourceRead::kEnd && pending() + dropped_bytes_ > 0 &&
        TakeLine(pending(), /*terminated=*/false, line)) {
      return line.malformed.empty() ? SourceRead::kLine
                                    : SourceRead::kMalformed;
    }
    line.end = position_;
    return read;
  }
}

bool LineReader::TakeLine(std::size_t length, bool terminated,
                          SourceLine& line) {
  const bool inside_line = std::exchange(inside_line_, false);
  const std::uint64_t dropped = std::exchange(dropped_bytes_, 0);
  line.text = std::string_view(buffer_.data() + begin_, length);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  const std::size_t end_bytes = terminated ? 1 : 0;
  begin_ += length + end_bytes;
  scanned_ = begin_;
  position_.bytes += dropped + length + end_bytes;
  position_.lines += inside_line ? 0 : 1;
  line.number = position_.lines;
  line.end = position_;
  line.terminated = terminated;
  if (line.text.empty() && dropped == 0) return false;
  line.malformed =
      WhyMalformed(inside_line, dropped + line.text.size() > line_bytes_max_,
                   line_bytes_max_);
  return true;
}

absl::StatusOr<SourceRead> LineReader::ReadMore() {
  if (at_end_) return SourceRead::kEnd;
  pollfd waiting = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, idle_ ? kIdleWaitMs : 0) <= 0) {
    idle_ = true;
    return SourceRead::kIdle;
  }
  idle_ = false;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  scanned_ -= begin_;
  begin_ = 0;
  buffer_.resize(std::max(buffer_.size(), end_ + kReadBytes));
  const ssize_t got = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return SourceRead::kIdle;
    return absl::UnavailableError(absl::StrCat("cannot read input '", name_,
                                               "': ", std::strerror(errno)));
  }
  at_end_ = got == 0;
  end_ += static_cast<std::size_t>(got);
  return at_end_ ? SourceRead::kEnd : SourceRead::kLine;
}

}  // namespace mayfly::runtime_internal
