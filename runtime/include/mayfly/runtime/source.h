// Where a job's lines come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// How far an input has been read. Commits record it.
struct SourcePosition {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;

  friend bool operator==(const SourcePosition&,
                         const SourcePosition&) = default;
};

enum class SourceRead : std::uint8_t {
  kLine = 1,
  // A line that cannot be handed on; `malformed` says why.
  kMalformed = 2,
  // Nothing is there for now. The first time at once, so that what was read
  // can be worked on; when asked again, after a wait of a tenth of a second.
  kIdle = 3,
  kEnd = 4,
};

struct SourceLine {
  // Without its end of line.  Lifetime: valid until the next read.
  std::string_view text;
  // Counted from 1, blank ones included.
  std::uint64_t number = 0;
  // Where the next line starts.
  SourcePosition end;
  // False for a last line that no newline ends. It may have been cut off.
  bool terminated = true;
  // Why it is malformed, if it is.
  std::string malformed;
};

// An input that is read line by line, and again from any position that was
// reached before.
// Threads: one.
class Source {
 public:
  virtual ~Source() = default;

  // What messages call it.
  virtual const std::string& name() const = 0;

  // Makes sure that the input is there and can be read. Called once, before
  // the job touches anything.
  // Errors: kNotFound, kInvalidArgument if it is a directory,
  // kPermissionDenied, kUnavailable.
  virtual absl::Status Open() = 0;

  // Goes to where reading is to start. Called once, after Open().
  // Errors: kFailedPrecondition if the input ends before that; kUnavailable if
  // it cannot be read.
  virtual absl::Status SeekTo(const SourcePosition& position) = 0;

  // Reads the next line that is not blank.
  // Errors: kUnavailable if the input cannot be read.
  virtual absl::StatusOr<SourceRead> Next(SourceLine& line) = 0;

  // Size of the whole input; nullopt if nobody can know it, as of a pipe.
  // Unit: bytes.
  virtual std::optional<std::uint64_t> total_bytes() const = 0;
};

struct FileSourceOptions {
  // A longer line is malformed: its bytes are skipped, never all held in
  // memory.  Unit: bytes, without the end of line.  Range: 1 to 1 GiB.
  std::size_t line_bytes_max = std::size_t{1} << 20;
};

// Lines of a file, or of standard input if `path` is "-". Lines end with a
// newline; a carriage return before it is dropped; blank lines are skipped.
//
// A restarted job goes on where it had come to, and a finished job with what
// the file has grown by. A pipe cannot be rewound: give a restarted job the
// same bytes again from the first one on, and it skips those it is done with.
std::unique_ptr<Source> MakeFileSource(std::string path,
                                       const FileSourceOptions& options = {});

}  // namespace mayfly
