#include "bench/harness/workload.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
#include <map>
#include <thread>
#include <utility>

#include "bench/harness/must.h"

namespace mayfly::bench {
namespace {

double ProcessCpuSeconds() {
  std::timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

// Waits until the threads of this process are idle, so that nobody is timed
// while somebody else's compaction runs.
void WaitForBackgroundWork() {
  constexpr std::chrono::milliseconds kInterval(10);
  constexpr int kIdleIntervals = 4;
  constexpr double kIdleSeconds = 0.001;
  for (int idle = 0; idle < kIdleIntervals;) {
    const double before = ProcessCpuSeconds();
    std::this_thread::sleep_for(kInterval);
    idle = ProcessCpuSeconds() - before < kIdleSeconds ? idle + 1 : 0;
  }
}

class Race {
 public:
  explicit Race(Workload workload)
      : workload_(std::move(workload)), lanes_(workload_.contenders.size()) {}

  const Workload& workload() const { return workload_; }

  void Repeat(std::size_t contender, benchmark::State& state) {
    if (lanes_.front().subject == nullptr) SetUp();
    Lane& lane = lanes_[contender];
    const int repetition = lane.repetitions++;
    lane.subject->Prepare(repetition);
    WaitForBackgroundWork();
    std::uint64_t checksum = 0;
    while (state.KeepRunningBatch(
        static_cast<benchmark::IterationCount>(workload_.operations))) {
      checksum = lane.subject->Run();
    }
    Check(contender, repetition, checksum + lane.subject->CheckWritten());
    state.SetLabel(Label(contender));
  }

 private:
  struct Lane {
    std::unique_ptr<Subject> subject;
    int repetitions = 0;
  };

  void SetUp() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = lanes_[i];
      lane.subject = workload_.contenders[i].make();
      lane.subject->Prepare(lane.repetitions);
      const std::uint64_t checksum = lane.subject->Run();
      Check(i, lane.repetitions++, checksum + lane.subject->CheckWritten());
    }
  }

  void Check(std::size_t contender, int repetition, std::uint64_t checksum) {
    const auto [it, is_first] = checksums_.try_emplace(repetition, checksum);
    if (it->second == checksum) return;
    Fail(workload_.name + ": " + workload_.contenders[contender].name +
         " did not read the same as another contender in repetition " +
         std::to_string(repetition));
  }

  // "other ratio other ratio", for the table.
  std::string Label(std::size_t contender) const {
    std::string label;
    for (const Comparison& comparison : workload_.comparisons) {
      if (comparison.ours != workload_.contenders[contender].name) continue;
      if (!label.empty()) label += ' ';
      label += comparison.other + ' ' + std::to_string(comparison.ratio);
    }
    return label;
  }

  const Workload workload_;
  std::vector<Lane> lanes_;
  std::map<int, std::uint64_t> checksums_;
};

}  // namespace

void RegisterWorkload(Workload workload, const Registration& registration) {
  if (!registration.only.empty()) {
    std::erase_if(workload.contenders, [&](const Contender& contender) {
      return contender.name != registration.only;
    });
  }
  const auto race = std::make_shared<Race>(std::move(workload));
  const Workload& work = race->workload();
  for (std::size_t i = 0; i < work.contenders.size(); ++i) {
    auto* const benchmark = benchmark::RegisterBenchmark(
        (work.name + '/' + work.contenders[i].name).c_str(),
        [race, i](benchmark::State& state) { race->Repeat(i, state); });
    benchmark->UseRealTime()
        ->Iterations(static_cast<benchmark::IterationCount>(work.operations))
        ->Repetitions(registration.scale.repetitions);
    if (work.in_background) benchmark->MeasureProcessCPUTime();
  }
}

}  // namespace mayfly::bench
