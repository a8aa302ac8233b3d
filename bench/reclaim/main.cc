// How long it takes, and what it costs, until the space of entries that have
// expired is free again, while nothing is written.
//
//   mayfly_reclaim [ENTRIES [CONTENDER]]    a million, all by default
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/reclaim/measure.h"
#include "bench/reclaim/store.h"

namespace mayfly::bench {
namespace {

void Run(const ReclaimScenario& scenario, const ReclaimContender& contender) {
  // Alone first, for the time and the bytes.
  std::unique_ptr<ReclaimStore> store = contender.make(scenario);
  store->Load();
  store->Expire();
  const ReclaimCost cost = MeasureReclaim(scenario, *store);

  std::string at_rest = "-";
  std::string meanwhile = "-";
  if (store->can_be_read_meanwhile()) {
    store = contender.make(scenario);
    store->Load();
    const ReadLatencies reads = MeasureReads(scenario, *store);
    at_rest = reads.at_rest.Show();
    meanwhile = reads.meanwhile.Show();
  }

  const auto mega = [](std::uint64_t bytes) {
    return static_cast<double>(bytes) / 1e6;
  };
  std::printf(
      "| %s | %s | %.3f | %.3f | %.1f | %.1f | %.1f -> %.1f | %s | %s |\n",
      scenario.name.c_str(), contender.name.c_str(), cost.seconds,
      cost.unlinking_seconds, mega(cost.written), mega(cost.read),
      mega(cost.bytes_before), mega(cost.bytes_after), at_rest.c_str(),
      meanwhile.c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using mayfly::bench::ReclaimScenario;
  const std::uint64_t entries =
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::string only = argc > 2 ? argv[2] : "";
  if (entries < 1000) {
    std::fprintf(stderr,
                 "usage: mayfly_reclaim [ENTRIES [CONTENDER]], at least 1000 "
                 "entries\n");
    return 2;
  }
  const std::vector<ReclaimScenario> scenarios = {
      {.name = "all expired", .entries = entries, .expired_before = entries},
      {.name = "half", .entries = entries, .expired_before = entries / 2},
      {.name = "half, but a tenth of it renewed",
       .entries = entries,
       .expired_before = entries / 2,
       .renewed_one_in = 10}};
  std::printf(
      "| of %llu | contender | seconds | unlinking | MB written | MB read | "
      "MB on disk | reads at rest, us p50 / p99 / p999 | meanwhile |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(entries));
  for (const ReclaimScenario& scenario : scenarios) {
    for (const auto& contender : mayfly::bench::ReclaimContenders()) {
      if (!only.empty() && contender.name != only) continue;
      mayfly::bench::Run(scenario, contender);
    }
  }
  return 0;
}
