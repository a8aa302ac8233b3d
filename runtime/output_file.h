// The lines that one shard puts out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/sink.h"
#include "runtime/mutex.h"

namespace mayfly::runtime_internal {

// What "part-00003" and "shard-00003" have in common.
std::string Numbered(std::string_view prefix, int number);

// Threads: one.
class OutputFile final : public SinkWriter {
 public:
  // Opens a file, or makes it, and cuts it to the length that was committed:
  // to nothing if there was no commit. Devices and pipes are not cut.
  // Errors: kFailedPrecondition if another job has the file; kDataLoss if it
  // is shorter than that; as state_internal::FileError().
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path, std::optional<std::uint64_t> committed_bytes);

  // Writes to an open file that others write to under the same mutex, whole
  // lines at a time.
  // Lifetime: `fd` and `mutex` stay the caller's and outlive this.
  static std::unique_ptr<OutputFile> Share(
      int fd, std::string name, Mutex& mutex,
      std::optional<std::uint64_t> committed_bytes);

  ~OutputFile() override;

  const std::string& name() const override { return name_; }
  absl::Status Write(std::string_view line) override;
  absl::StatusOr<std::uint64_t> Flush(Durability durability) override;

 private:
  OutputFile(int fd, std::string name, std::uint64_t length)
      : fd_(fd), name_(std::move(name)), length_(length) {}

  absl::Status CutTo(std::optional<std::uint64_t> committed_bytes);
  absl::Status WriteOut();
  absl::Status WriteAll(std::string_view bytes);
  absl::Status Sync();

  const int fd_;
  const std::string name_;
  // Null for a file of our own.
  Mutex* shared_ = nullptr;
  bool is_regular_ = false;
  bool directory_synced_ = false;
  // Of all that was written out.
  std::uint64_t length_;
  std::string buffer_;
};

}  // namespace mayfly::runtime_internal
