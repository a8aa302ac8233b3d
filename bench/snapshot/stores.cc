#include "bench/snapshot/stores.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "bench/harness/must.h"
#include "bench/harness/plain_rocksdb.h"
#include "state/stored_shard.h"

namespace mayfly::bench {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

}  // namespace

std::shared_ptr<SteppedClock> StandingClock() {
  return std::make_shared<SteppedClock>();
}

MayflyStore::MayflyStore(BackendKind kind, const std::string& directory) {
  BackendOptions options;
  options.kind = kind;
  options.directory = directory;
  options.processing_clock = StandingClock();
  backend = Must(KeyedStateBackend<std::string>::Open(options));
  ValueStateDescriptor<std::string> descriptor("value");
  descriptor.EnableTimeToLive(Must(LongTtl().Build()));
  state = Must(backend->GetState(descriptor));
}

void ChecksumOfShard(const std::string& path, Figures& figures) {
  const auto shard = Must(state_internal::StoredShard::Open(path));
  EntryChecksum checksum;
  Must(shard->Visit(0, [&](std::string_view key, std::string_view value) {
    checksum.Add(key, value);
    return absl::OkStatus();
  }));
  checksum.PutInto(figures);
}

void ChecksumOfDatabase(const std::string& path, Figures& figures) {
  PlainRocksdb plain({.path = path});
  EntryChecksum checksum;
  const std::unique_ptr<rocksdb::Iterator> at(
      plain.db().NewIterator(plain.read_options()));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    checksum.Add(at->key().ToStringView(), at->value().ToStringView());
  }
  Must(at->status());
  checksum.PutInto(figures);
}

ScanFileWriter::ScanFileWriter(const std::string& path)
    : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                 0644)) {
  if (fd_ < 0) Fail("cannot create " + path);
}

ScanFileWriter::~ScanFileWriter() {
  Flush();
  ::close(fd_);
}

void ScanFileWriter::Add(std::string_view key, std::string_view value) {
  const std::uint32_t sizes[] = {static_cast<std::uint32_t>(key.size()),
                                 static_cast<std::uint32_t>(value.size())};
  buffer_.append(reinterpret_cast<const char*>(sizes), sizeof(sizes));
  buffer_.append(key).append(value);
  if (buffer_.size() >= kBufferBytes) Flush();
}

void ScanFileWriter::Flush() {
  if (::write(fd_, buffer_.data(), buffer_.size()) !=
      static_cast<ssize_t>(buffer_.size())) {
    Fail("cannot write the scan");
  }
  buffer_.clear();
}

ScanFileReader::ScanFileReader(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) Fail("cannot open " + path);
}

ScanFileReader::~ScanFileReader() { ::close(fd_); }

bool ScanFileReader::Next(std::string_view& key, std::string_view& value) {
  std::uint32_t sizes[2];
  if (!Have(sizeof(sizes))) return false;
  std::memcpy(sizes, buffer_.data() + at_, sizeof(sizes));
  const std::size_t bytes = sizeof(sizes) + sizes[0] + sizes[1];
  if (!Have(bytes)) Fail("the scan is cut short");
  key = std::string_view(buffer_).substr(at_ + sizeof(sizes), sizes[0]);
  value = std::string_view(buffer_).substr(at_ + sizeof(sizes) + sizes[0],
                                           sizes[1]);
  at_ += bytes;
  return true;
}

bool ScanFileReader::Have(std::size_t bytes) {
  while (buffer_.size() - at_ < bytes) {
    buffer_.erase(0, std::exchange(at_, 0));
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kBufferBytes);
    const ssize_t got = ::read(fd_, buffer_.data() + had, kBufferBytes);
    if (got < 0) Fail("cannot read the scan");
    buffer_.resize(had + static_cast<std::size_t>(got));
    if (got == 0) return false;
  }
  return true;
}

}  // namespace mayfly::bench
