#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "mayfly/runtime/sink.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "runtime/mutex.h"
#include "runtime/output_file.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

using runtime_internal::Numbered;
using runtime_internal::OutputFile;

constexpr char kStandardOutput[] = "-";
constexpr char kPartPrefix[] = "part-";

// The number of a part file; nullopt if it is none.
std::optional<int> PartNumber(const fs::path& path) {
  const std::string name = path.filename().string();
  absl::string_view digits = name;
  int number = 0;
  if (!absl::ConsumePrefix(&digits, kPartPrefix) ||
      !absl::SimpleAtoi(digits, &number)) {
    return std::nullopt;
  }
  return number;
}

// Of a thousand parts the first few tell enough.
std::string NamesOf(const std::set<std::string>& parts) {
  constexpr std::size_t kNamesMax = 8;
  const std::vector<std::string> names(
      parts.begin(),
      std::next(parts.begin(), static_cast<std::ptrdiff_t>(
                                   std::min(parts.size(), kNamesMax))));
  return absl::StrCat(
      absl::StrJoin(names, ", "),
      parts.size() > names.size()
          ? absl::StrCat(" and ", parts.size() - names.size(), " more")
          : "");
}

// Sets errno if not.
bool MayWriteTo(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

class FileSink final : public Sink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)) {}

  const std::string& name() const override { return path_; }

  absl::Status Check(int shards) override {
    if (path_ == kStandardOutput) return absl::OkStatus();
    std::error_code ignored;
    const fs::file_status status = fs::status(path_, ignored);
    if (!fs::exists(status)) return CheckParent();
    if (shards == 1 && fs::is_directory(status)) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", path_,
                       "' is a directory, and one shard writes a file; "
                       "give the path of a file"));
    }
    if (shards > 1 && !fs::is_directory(status)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output '", path_, "' is a file, and ", shards,
          " shards write a directory of part files; give the path of a "
          "directory"));
    }
    if (!MayWriteTo(path_)) {
      return state_internal::FileError(errno, "write to output", path_);
    }
    return shards > 1 ? CheckParts(shards) : absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<SinkWriter>> OpenShard(
      int shard, int shards,
      std::optional<std::uint64_t> committed_bytes) override {
    if (path_ == kStandardOutput) {
      return OutputFile::Share(STDOUT_FILENO, "standard output",
                               standard_output_, committed_bytes);
    }
    if (shards > 1)
      MAYFLY_RETURN_IF_ERROR(state_internal::MakeDirectory(path_));
    return OutputFile::Open(PathOf(shard, shards), committed_bytes);
  }

  absl::StatusOr<std::optional<OutputFound>> Look(int shard,
                                                  int shards) override {
    if (path_ == kStandardOutput) return std::nullopt;
    OutputFound found{.name = PathOf(shard, shards)};
    std::error_code error;
    const fs::file_status status = fs::status(found.name, error);
    if (!fs::exists(status)) return found;
    if (!fs::is_regular_file(status)) return std::nullopt;
    found.bytes = fs::file_size(found.name, error);
    if (error) {
      return state_internal::FileError(error.value(), "look at output",
                                       found.name);
    }
    return found;
  }

 private:
  std::string PathOf(int shard, int shards) const {
    return shards == 1 ? path_ : path_ + "/" + Numbered(kPartPrefix, shard);
  }

  // What is to be made needs a directory to be made in.
  absl::Status CheckParent() const {
    const fs::path parent = fs::absolute(path_).parent_path();
    if (MayWriteTo(parent.string())) return absl::OkStatus();
    if (errno == ENOENT || errno == ENOTDIR) {
      return absl::NotFoundError(absl::StrCat("output '", path_,
                                              "' cannot be made: there is no "
                                              "directory '",
                                              parent.string(),
                                              "'; make it first"));
    }
    return state_internal::FileError(errno, "make output", path_);
  }

  // Parts that this job does not write would pass for its output.
  absl::Status CheckParts(int shards) const {
    std::set<std::string> others;
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(path_, error)) {
      const std::optional<int> part = PartNumber(entry.path());
      if (part && *part >= shards) {
        others.insert(entry.path().filename().string());
      }
    }
    if (error) {
      return state_internal::FileError(error.value(), "list output", path_);
    }
    if (others.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "output '", path_, "' holds ", NamesOf(others), ", of a job with more ",
        "than ", shards, " shards; move ", others.size() == 1 ? "it" : "them",
        " away, or give another directory"));
  }

  const std::string path_;
  runtime_internal::Mutex standard_output_;
};

}  // namespace

std::unique_ptr<Sink> MakeFileSink(std::string path) {
  return std::make_unique<FileSink>(std::move(path));
}

}  // namespace mayfly
