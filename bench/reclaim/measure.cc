#include "bench/reclaim/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <utility>

#include "bench/harness/must.h"
#include "bench/harness/temporary_directory.h"

namespace mayfly::bench {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Io {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

// What this process has read and written by system calls.
Io IoSoFar() {
  Io io;
  std::ifstream file("/proc/self/io");
  for (std::string name; file >> name;) {
    std::uint64_t bytes = 0;
    file >> bytes;
    if (name == "rchar:") io.read = bytes;
    if (name == "wchar:") io.written = bytes;
  }
  return io;
}

std::vector<std::filesystem::path> TableFiles(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".sst") files.push_back(entry.path());
  }
  return files;
}

std::uint64_t TableBytes(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& file : TableFiles(directory)) {
    bytes += std::filesystem::file_size(file);
  }
  return bytes;
}

void Check(const ReclaimScenario& scenario, ReclaimStore& store) {
  constexpr std::uint64_t kStride = 101;
  for (std::uint64_t i = 0; i < scenario.entries; i += kStride) {
    if (store.Get(i) == scenario.IsLive(i)) continue;
    Fail(scenario.name + ": entry " + std::to_string(i) +
         (scenario.IsLive(i) ? " is lost" : " is still there"));
  }
}

// Until `done` says so.
template <typename Done>
Latencies Read(const ReclaimScenario& scenario, ReclaimStore& store,
               const Done& done) {
  const bool any_live = scenario.expired_before < scenario.entries;
  std::mt19937_64 random(7);
  std::vector<double> us;
  while (!done(us.size())) {
    std::uint64_t entry = random() % scenario.entries;
    while (any_live && !scenario.IsLive(entry)) {
      entry = random() % scenario.entries;
    }
    const auto begin = Clock::now();
    store.Get(entry);
    us.push_back(SecondsSince(begin) * 1e6);
  }
  return Latencies(std::move(us));
}

}  // namespace

ReclaimCost MeasureReclaim(const ReclaimScenario& scenario,
                           ReclaimStore& store) {
  ReclaimCost cost;
  cost.bytes_before = TableBytes(store.directory());
  // A second name keeps the blocks of a file until it is taken away too.
  const TemporaryDirectory names;
  for (const auto& file : TableFiles(store.directory())) {
    std::filesystem::create_hard_link(
        file, std::filesystem::path(names.path()) / file.filename());
  }
  const Io io = IoSoFar();
  auto begin = Clock::now();
  store.Reclaim();
  cost.seconds = SecondsSince(begin);
  const Io io_after = IoSoFar();
  begin = Clock::now();
  std::filesystem::remove_all(names.path());
  cost.unlinking_seconds = SecondsSince(begin);
  cost.seconds += cost.unlinking_seconds;
  cost.read = io_after.read - io.read;
  cost.written = io_after.written - io.written;
  cost.bytes_after = TableBytes(store.directory());
  Check(scenario, store);
  return cost;
}

Latencies::Latencies(std::vector<double> us) : us_(std::move(us)) {
  std::sort(us_.begin(), us_.end());
}

std::string Latencies::At(double share) const {
  constexpr std::size_t kBeyond = 10;
  const auto rank =
      static_cast<std::size_t>(share * static_cast<double>(us_.size()));
  if (us_.size() - rank < kBeyond) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", us_[rank]);
  return text;
}

std::string Latencies::Show() const {
  return At(0.5) + " / " + At(0.99) + " / " + At(0.999);
}

ReadLatencies MeasureReads(const ReclaimScenario& scenario,
                           ReclaimStore& store) {
  constexpr std::size_t kReadsAtRest = 50'000;
  Latencies at_rest = Read(
      scenario, store, [](std::size_t reads) { return reads >= kReadsAtRest; });
  store.Expire();
  std::future<void> reclaimed =
      std::async(std::launch::async, [&] { store.Reclaim(); });
  Latencies meanwhile = Read(scenario, store, [&](std::size_t) {
    return reclaimed.wait_for(std::chrono::seconds(0)) ==
           std::future_status::ready;
  });
  reclaimed.get();
  return {std::move(at_rest), std::move(meanwhile)};
}

}  // namespace mayfly::bench
