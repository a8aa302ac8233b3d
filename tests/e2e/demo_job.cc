#include "tests/e2e/demo_job.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace mayfly::e2e {
namespace {

std::string Numbered(const char* prefix, int number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%05d", number);
  return std::string(prefix) + digits;
}

}  // namespace

std::string FlightsPath() { return MAYFLY_FLIGHTS; }

std::string ReadFileOrDie(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) ADD_FAILURE() << "cannot read " << path;
  return text.str();
}

void WriteFileOrDie(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) ADD_FAILURE() << "cannot write " << path;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> DemoJob::Command() const {
  std::vector<std::string> command = {
      MAYFLY_AIRPORT_DELAYS,
      "--input=" + flags_.input,
      "--output=" + output_path(),
      "--state-dir=" + state_path(),
      "--backend=" + flags_.backend,
      "--shards=" + std::to_string(flags_.shards),
      "--ttl=" + flags_.ttl,
      "--time=event",
  };
  command.insert(command.end(), flags_.more.begin(), flags_.more.end());
  return command;
}

std::string DemoJob::shard_path(int shard) const {
  return state_path() + "/" + Numbered("shard-", shard);
}

std::string DemoJob::PartPath(int shard) const {
  if (flags_.shards == 1) return output_path();
  return output_path() + "/" + Numbered("part-", shard);
}

std::vector<std::string> DemoJob::Parts() const {
  std::vector<std::string> parts;
  for (int shard = 0; shard < flags_.shards; ++shard) {
    const std::string path = PartPath(shard);
    parts.push_back(std::filesystem::exists(path) ? ReadFileOrDie(path) : "");
  }
  return parts;
}

std::uint64_t DemoJob::OutputBytes() const {
  std::uint64_t bytes = 0;
  for (int shard = 0; shard < flags_.shards; ++shard) {
    std::error_code none_yet;
    const std::uintmax_t size =
        std::filesystem::file_size(PartPath(shard), none_yet);
    if (!none_yet) bytes += size;
  }
  return bytes;
}

}  // namespace mayfly::e2e
