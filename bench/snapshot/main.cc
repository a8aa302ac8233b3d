// How fast the state of a shard is copied, moved out and brought in, how long
// that holds up a record, and how much memory it takes.
//
//   mayfly_snapshot [ENTRIES [ROUNDS [JSON]]]     5 million, 5 and no file
//
// The contenders of a workload take turns, each in a process of its own, and
// what they have made is compared. The table has the medians.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bench/harness/must.h"
#include "bench/harness/temporary_directory.h"
#include "bench/snapshot/contenders.h"
#include "nlohmann/json.hpp"

namespace mayfly::bench {
namespace {

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Of all rounds of a contender.
class Results {
 public:
  void Add(const Figures& figures) { rounds_.push_back(figures); }

  double Median(double Figures::*figure) const {
    std::vector<double> values;
    for (const Figures& round : rounds_) values.push_back(round.*figure);
    return bench::Median(std::move(values));
  }
  // What it made, the same in all rounds.
  const Figures& made() const { return rounds_.front(); }

 private:
  std::vector<Figures> rounds_;
};

// Those that say what they made must all have made the same.
void ExpectEqual(const Figures& made, Figures& known) {
  if (made.entries == 0) return;
  if (known.entries == 0) known = made;
  if (made.entries != known.entries || made.checksum != known.checksum) {
    Fail("the contenders have made different entries");
  }
}

std::vector<Results> Measure(const std::vector<SnapshotContender>& contenders,
                             const std::string& stores, int rounds) {
  std::vector<Results> results(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::minstd_rand random(1);
  Figures known;
  const std::string made = stores + "/made";
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      std::fprintf(stderr, "[%d/%d] %s: %s\n", round + 1, rounds,
                   contenders[i].workload.c_str(), contenders[i].name.c_str());
      const Figures figures =
          RunInChild([&] { return contenders[i].run(stores, made); });
      std::filesystem::remove_all(made);
      ExpectEqual(figures, known);
      results[i].Add(figures);
    }
  }
  return results;
}

void PrintRow(const SnapshotContender& contender, const Results& results,
              std::uint64_t entries, double ratio) {
  const double seconds = results.Median(&Figures::seconds);
  const double entry_bytes = static_cast<double>(SnapshotEntryBytes());
  const double rate = static_cast<double>(entries) / seconds / 1e6;
  std::printf("| `%s` | %s | %.3f | %.2f | %.0f | %.1f | %.0f | %.0f |",
              contender.workload.c_str(), contender.name.c_str(), seconds, rate,
              rate * entry_bytes, results.Median(&Figures::pause_ms),
              results.Median(&Figures::memory_mb),
              results.Median(&Figures::peak_mb));
  if (contender.name == "mayfly") {
    std::printf(" | | |\n");
  } else if (contender.target == 0) {
    std::printf(" %.2fx | | |\n", ratio);
  } else {
    std::printf(" %.2fx | %.2fx | %s |\n", ratio, contender.target,
                ratio >= contender.target ? "yes" : "no");
  }
}

void Report(const std::vector<SnapshotContender>& contenders,
            const std::vector<Results>& results, std::uint64_t entries,
            const std::string& json_path) {
  std::printf(
      "| of %llu | contender | seconds | M entries/s | MB/s | pause, ms | MB "
      "before | MB on top | ratio | target | met? |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(entries));
  nlohmann::json json = {{"entries", entries},
                         {"entry_bytes", SnapshotEntryBytes()}};
  std::map<std::string, double> ours;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const SnapshotContender& contender = contenders[i];
    const double seconds = results[i].Median(&Figures::seconds);
    if (contender.name == "mayfly") ours[contender.workload] = seconds;
    const double ratio = seconds / ours.at(contender.workload);
    PrintRow(contender, results[i], entries, ratio);
    json["results"].push_back(
        {{"workload", contender.workload},
         {"contender", contender.name},
         {"seconds", seconds},
         {"pause_ms", results[i].Median(&Figures::pause_ms)},
         {"memory_mb", results[i].Median(&Figures::memory_mb)},
         {"peak_mb", results[i].Median(&Figures::peak_mb)},
         {"ratio", ratio},
         {"target", contender.target}});
  }
  if (json_path.empty()) return;
  std::ofstream file(json_path);
  file << json.dump(2) << std::endl;
  if (!file) Fail("cannot write " + json_path);
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;  // NOLINT(google-build-using-namespace)
  const std::uint64_t entries =
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  if (entries < 1000 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: mayfly_snapshot [ENTRIES [ROUNDS [JSON]]], at least "
                 "1000 entries and a round\n");
    return 2;
  }
  const TemporaryDirectory stores;
  FillStores(stores.path(), entries);
  const std::vector<SnapshotContender> contenders = SnapshotContenders(entries);
  Report(contenders, Measure(contenders, stores.path(), rounds), entries,
         argc > 3 ? argv[3] : "");
  return 0;
}
