// The demo job in a directory of its own, and what it leaves there.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "mayfly/testing/temp_directory.h"
#include "tests/process/process.h"

namespace mayfly::e2e {

using process::Process;
using process::ProcessResult;
using process::RunProcess;

// The flights that come with the example: 20,000 of them.
std::string FlightsPath();

std::string ReadFileOrDie(const std::string& path);
void WriteFileOrDie(const std::string& path, std::string_view text);

std::vector<std::string> Lines(std::string_view text);

// What differs between runs.
struct DemoFlags {
  std::string backend = "rocksdb";
  int shards = 1;
  std::string ttl = "3h";
  std::string input = FlightsPath();
  // Written as on the command line; they come last and so win.
  std::vector<std::string> more = {};

  // For the names of tests: "rocksdb2".
  friend void PrintTo(const DemoFlags& flags, std::ostream* out) {
    *out << flags.backend << flags.shards;
  }
};

// Threads: one.
class DemoJob {
 public:
  explicit DemoJob(DemoFlags flags) : flags_(std::move(flags)) {}

  DemoFlags& flags() { return flags_; }

  // The command line.
  std::vector<std::string> Command() const;

  ProcessResult Run(std::string_view input = "") const {
    return RunProcess(Command(), input);
  }

  std::string output_path() const { return directory_.Path("reports"); }
  std::string state_path() const { return directory_.Path("state"); }
  std::string shard_path(int shard) const;
  // A place for what else a test needs.
  std::string Path(std::string_view name) const {
    return directory_.Path(name);
  }

  // The bytes of each part, the file being the only one if there is one shard.
  // Empty where there is no file.
  std::vector<std::string> Parts() const;

  // Bytes in all parts by now.
  std::uint64_t OutputBytes() const;

 private:
  std::string PartPath(int shard) const;

  DemoFlags flags_;
  TempDirectory directory_;
};

}  // namespace mayfly::e2e
