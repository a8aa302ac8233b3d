// Which airports are behind schedule right now? Reads flights, keeps for each
// airport what it needs for an answer, forgets it when its time is up, and
// writes a report for each flight.
#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "airport_delays/console.h"
#include "airport_delays/delay_board.h"
#include "airport_delays/flags.h"
#include "airport_delays/flight.h"
#include "airport_delays/report.h"
#include "mayfly/runtime/job.h"
#include "mayfly/state/ttl_config.h"

namespace airport_delays {
namespace {

using DelayJob = mayfly::Job<std::string, Flight, Report>;

constexpr int kFailed = 1;
constexpr int kBadFlags = 2;
// As a shell has it for a program that a signal ended.
constexpr int kSignalled = 128;

// For the signal handler alone.
DelayJob* running_job = nullptr;
volatile std::sig_atomic_t stop_signal = 0;

// A second signal ends the program at once: the first may have come while it
// waits for its input or output.
void StopOnSignal(int signal) {
  std::signal(signal, SIG_DFL);
  stop_signal = signal;
  running_job->RequestStop();
}

void CheckpointOnSignal(int) { running_job->RequestCheckpoint(); }

// [snippet: ttl]
absl::StatusOr<mayfly::StateTtlConfig> MakeTtl(const Flags& flags) {
  return mayfly::StateTtlConfig::NewBuilder(flags.ttl)
      .SetUpdateType(flags.update)
      .SetStateVisibility(flags.visibility)
      .SetTimeCharacteristic(flags.time)
      .Build();
}
// [/snippet]

absl::StatusOr<mayfly::JobSummary> Run(const Flags& flags) {
  const absl::StatusOr<mayfly::StateTtlConfig> ttl = MakeTtl(flags);
  if (!ttl.ok()) return ttl.status();

  // [snippet: job]
  DelayJob job(flags.job);
  job.From(mayfly::MakeFileSource(flags.input), ParseFlight)
      .KeyBy([](const Flight& flight) { return flight.origin; })
      .WithTimestamps([](const Flight& flight) { return flight.time_ms; })
      .Process([&] { return std::make_unique<DelayBoard>(*ttl); })
      .To(mayfly::MakeFileSink(flags.output), AppendReport)
      .OnProgress(flags.progress_interval,
                  [](const mayfly::JobProgress& progress) {
                    std::cerr << FormatProgress(progress) << std::endl;
                  });
  // [/snippet]

  running_job = &job;
  std::signal(SIGINT, StopOnSignal);
  std::signal(SIGTERM, StopOnSignal);
  std::signal(SIGUSR1, CheckpointOnSignal);
  absl::StatusOr<mayfly::JobSummary> summary = job.Run();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGUSR1, SIG_IGN);
  return summary;
}

int Main(int argc, char** argv) {
  if (AsksForHelp(argc, argv)) {
    std::cout << HelpText();
    return 0;
  }
  const absl::StatusOr<Flags> flags = ParseFlags(argc, argv);
  if (!flags.ok()) {
    std::cerr << "airport_delays: " << flags.status().message() << std::endl;
    return kBadFlags;
  }
  const absl::StatusOr<mayfly::JobSummary> summary = Run(*flags);
  if (!summary.ok()) {
    std::cerr << "airport_delays: " << summary.status().message() << std::endl;
    return absl::IsCancelled(summary.status()) && stop_signal != 0
               ? kSignalled + stop_signal
               : kFailed;
  }
  // Standard output is for reports, if that is where they go.
  (flags->output == "-" ? std::cerr : std::cout)
      << FormatSummary(*flags, *summary);
  return summary->complete ? 0 : kSignalled + stop_signal;
}

}  // namespace
}  // namespace airport_delays

int main(int argc, char** argv) { return airport_delays::Main(argc, argv); }
