// Cuts a stream of bytes into lines, never holding more than one long line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mayfly/runtime/source.h"

namespace mayfly::runtime_internal {

// Threads: one.  Lifetime: `fd` stays the caller's, and open.
class LineReader {
 public:
  // `name` is for messages. Unit: bytes, without the end of line.
  LineReader(int fd, std::string name, std::size_t line_bytes_max);

  // Says where in the input the next byte lies. `inside_line`: right after a
  // last line that had no newline then. The newline may have come since; more
  // than that is a malformed line.
  void StartAt(const SourcePosition& position, bool inside_line);

  // As Source::Next(). After a line that no newline ends comes the end,
  // whatever the input has grown by.
  absl::StatusOr<SourceRead> Next(SourceLine& line);

 private:
  // Makes a line of the next bytes that were read; false if it is blank.
  bool TakeLine(std::size_t length, bool terminated, SourceLine& line);

  // Reads more bytes behind those that are there; kLine if there are some.
  absl::StatusOr<SourceRead> ReadMore();

  std::size_t pending() const { return end_ - begin_; }

  const int fd_;
  const std::string name_;
  const std::size_t line_bytes_max_;

  // Start of the line that is being read.
  SourcePosition position_;
  bool inside_line_ = false;
  // Bytes of it that were dropped, for it is too long.
  std::uint64_t dropped_bytes_ = 0;

  // What was read and not yet used lies from begin_ to end_, and has no newline
  // before scanned_.
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t scanned_ = 0;
  std::size_t end_ = 0;

  // The last read found nothing.
  bool idle_ = false;
  bool at_end_ = false;
};

}  // namespace mayfly::runtime_internal
