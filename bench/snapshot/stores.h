// The stores that contenders work on, and what is common to those.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bench/harness/shard.h"
#include "bench/snapshot/child.h"
#include "mayfly/state/internal/crc32c.h"
#include "mayfly/state/keyed_state_backend.h"

namespace mayfly::bench {

constexpr std::size_t kSnapshotValueBytes = 100;

// Time stands still, so that all contenders store the same bytes.
std::shared_ptr<SteppedClock> StandingClock();

// A shard of Mayfly with one state of values.
struct MayflyStore {
  MayflyStore(BackendKind kind, const std::string& directory);

  std::unique_ptr<KeyedStateBackend<std::string>> backend;
  ValueState<std::string>* state = nullptr;
};

// The same entries in whatever order have the same checksum.
class EntryChecksum {
 public:
  void Add(std::string_view key, std::string_view value) {
    ++entries_;
    sum_ += state_internal::ExtendCrc32c(state_internal::Crc32c(key), value);
  }
  void PutInto(Figures& figures) const {
    figures.entries = entries_;
    figures.checksum = sum_;
  }

 private:
  std::uint64_t entries_ = 0;
  std::uint64_t sum_ = 0;
};

// Of what a shard's directory, a checkpoint or a savepoint holds, and of a
// plain database.
void ChecksumOfShard(const std::string& path, Figures& figures);
void ChecksumOfDatabase(const std::string& path, Figures& figures);

// A file of entries with nothing but their lengths before them.
class ScanFileWriter {
 public:
  explicit ScanFileWriter(const std::string& path);
  ~ScanFileWriter();
  ScanFileWriter(const ScanFileWriter&) = delete;
  ScanFileWriter& operator=(const ScanFileWriter&) = delete;
  void Add(std::string_view key, std::string_view value);

 private:
  void Flush();

  int fd_;
  std::string buffer_;
};

class ScanFileReader {
 public:
  explicit ScanFileReader(const std::string& path);
  ~ScanFileReader();
  ScanFileReader(const ScanFileReader&) = delete;
  ScanFileReader& operator=(const ScanFileReader&) = delete;

  // False at the end. The views are good until the next call.
  bool Next(std::string_view& key, std::string_view& value);

 private:
  // Whether so many bytes are there to be taken.
  bool Have(std::size_t bytes);

  int fd_;
  std::string buffer_;
  std::size_t at_ = 0;
};

}  // namespace mayfly::bench
