// How long it takes, and what it costs, until the space of entries that have
// expired is free again, while nothing is written.
//
//   mayfly_reclaim [ENTRIES]        a million by default
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/reclaim/store.h"

namespace mayfly::bench {
namespace {

using Clock = std::chrono::steady_clock;

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

std::uint64_t TableBytes(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".sst") bytes += entry.file_size();
  }
  return bytes;
}

// Of single reads.  Unit: microseconds.
struct Latency {
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
};

Latency LatencyOf(std::vector<double> us) {
  if (us.empty()) return {};
  std::sort(us.begin(), us.end());
  const auto at = [&](double share) {
    return us[static_cast<std::size_t>(share *
                                       static_cast<double>(us.size() - 1))];
  };
  return {at(0.5), at(0.99), at(0.999)};
}

// Reads random entries until `done` says so.
template <typename Done>
Latency Read(ReclaimStore& store, std::uint64_t entries, const Done& done) {
  std::mt19937_64 random(7);
  std::vector<double> us;
  while (!done(us.size())) {
    const auto begin = Clock::now();
    store.Get(random() % entries);
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin)
                     .count());
  }
  return LatencyOf(std::move(us));
}

constexpr double kMega = 1e6;

// Reads before the space comes back, and while it does.
void MeasureReads(ReclaimStore& store, std::uint64_t entries, double share,
                  Latency& rest, Latency& busy) {
  store.Load(entries);
  constexpr std::size_t kReadsAtRest = 50'000;
  rest = Read(store, entries,
              [](std::size_t reads) { return reads >= kReadsAtRest; });
  store.Expire(share);
  std::future<void> reclaimed =
      std::async(std::launch::async, [&] { store.Reclaim(); });
  busy = Read(store, entries, [&](std::size_t) {
    return reclaimed.wait_for(std::chrono::seconds(0)) ==
           std::future_status::ready;
  });
  reclaimed.get();
}

void Run(const ReclaimContender& contender, std::uint64_t entries,
         double share) {
  // Alone first, for the time and the bytes.
  std::unique_ptr<ReclaimStore> store = contender.make();
  store->Load(entries);
  store->Expire(share);
  const std::uint64_t before = TableBytes(store->directory());
  const Io io = IoSoFar();
  const auto begin = Clock::now();
  store->Reclaim();
  const double seconds =
      std::chrono::duration<double>(Clock::now() - begin).count();
  const Io io_after = IoSoFar();
  const std::uint64_t after = TableBytes(store->directory());

  Latency rest;
  Latency busy;
  if (store->can_be_read_meanwhile()) {
    store = contender.make();
    MeasureReads(*store, entries, share, rest, busy);
  }

  std::printf(
      "| %.0f %% expired | %s | %.3f | %.1f | %.1f | %.1f -> %.1f | "
      "%.1f / %.1f / %.1f | %.1f / %.1f / %.1f |\n",
      share * 100, contender.name.c_str(), seconds,
      static_cast<double>(io_after.written - io.written) / kMega,
      static_cast<double>(io_after.read - io.read) / kMega,
      static_cast<double>(before) / kMega, static_cast<double>(after) / kMega,
      rest.p50, rest.p99, rest.p999, busy.p50, busy.p99, busy.p999);
  std::fflush(stdout);
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  const std::uint64_t entries =
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  if (entries < 1000) {
    std::fprintf(stderr, "usage: mayfly_reclaim [ENTRIES], at least 1000\n");
    return 2;
  }
  std::printf(
      "| of %llu | contender | seconds | MB written | MB read | MB on disk | "
      "reads at rest, us p50 / p99 / p999 | meanwhile |\n"
      "|---|---|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(entries));
  for (const double share : {1.0, 0.5}) {
    for (const auto& contender : mayfly::bench::ReclaimContenders()) {
      mayfly::bench::Run(contender, entries, share);
    }
  }
  return 0;
}
