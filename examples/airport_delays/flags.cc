#include "airport_delays/flags.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "airport_delays/flag_types.h"

using airport_delays::Choice;
using airport_delays::Count;
using airport_delays::Interval;
using airport_delays::Limit;
using airport_delays::Ttl;

ABSL_FLAG(std::string, input, "-", "file of flights; - is standard input");
ABSL_FLAG(std::string, output, "-",
          "file of reports, or with several shards a directory of files;\n"
          "- is standard output");
ABSL_FLAG(std::string, state_dir, "airport_delays.state",
          "directory of what a restart needs; none if empty, on heap only");
ABSL_FLAG(Ttl, ttl, {std::chrono::hours(3)},
          "how long state lives: 3h, 30m, 1500ms and the like, or infinite");
ABSL_FLAG(Choice<mayfly::TimeCharacteristic>, time,
          {mayfly::TimeCharacteristic::kEventTime},
          "the time it lives by: event, that of the flights, or processing,\n"
          "that of the machine");
ABSL_FLAG(Choice<mayfly::UpdateType>, update,
          {mayfly::UpdateType::kOnCreateAndWrite},
          "what makes it live on: write, or read, which is both");
ABSL_FLAG(Choice<mayfly::StateVisibility>, visibility,
          {mayfly::StateVisibility::kNeverReturnExpired},
          "how long it is seen when its time is up: never, or until-cleaned; "
          "with rocksdb the latter depends on when the database compacts");
ABSL_FLAG(Choice<mayfly::BackendKind>, backend, {mayfly::BackendKind::kRocksdb},
          "where it lives: rocksdb, on disk, or heap, in memory");
ABSL_FLAG(Count, shards, {2},
          "parts that the airports are dealt out to, each with a thread");
ABSL_FLAG(Interval, commit_interval, {std::chrono::seconds(1)},
          "time between two commits; a restart goes on from the last one");
ABSL_FLAG(Limit, max_malformed, {},
          "malformed lines to pass over; the job fails at one more");
ABSL_FLAG(Interval, progress_interval, {std::chrono::seconds(1)},
          "time between two lines of progress");
ABSL_FLAG(
    std::string, checkpoint_dir, "",
    "directory of copies of the state that outlive --state-dir; none if\n"
    "empty. One is taken at the signal USR1, too, and when the job stops");
ABSL_FLAG(Interval, checkpoint_interval, {std::chrono::minutes(10)},
          "time between two of them");
ABSL_FLAG(Count, checkpoint_keep, {3}, "so many of the newest are kept");
ABSL_FLAG(
    std::string, savepoint_on_stop, "",
    "directory of savepoints: one is written when the job stops, for any\n"
    "--backend and any number of --shards; none if empty");
ABSL_FLAG(
    std::string, restore_from, "",
    "checkpoint, savepoint, or directory of them, to begin with if\n"
    "--state-dir holds nothing yet; may be --checkpoint-dir in each start");

namespace airport_delays {
namespace {

// As --help lists them.
constexpr const char* kNames[] = {"input",
                                  "output",
                                  "state-dir",
                                  "ttl",
                                  "time",
                                  "update",
                                  "visibility",
                                  "backend",
                                  "shards",
                                  "commit-interval",
                                  "max-malformed",
                                  "progress-interval",
                                  "checkpoint-dir",
                                  "checkpoint-interval",
                                  "checkpoint-keep",
                                  "savepoint-on-stop",
                                  "restore-from"};

// C++ has no dash in names.
absl::CommandLineFlag& Find(absl::string_view name) {
  return *absl::FindCommandLineFlag(absl::StrReplaceAll(name, {{"-", "_"}}));
}

absl::Status Refuse(absl::string_view flag, absl::string_view value,
                    absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": ", why));
}

absl::Status CheckName(absl::string_view name) {
  if (std::ranges::find(kNames, name) != std::end(kNames)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no flag --", name, "; there are --",
                   absl::StrJoin(kNames, ", --"), " and --help"));
}

// Gives the flags what the arguments say.
absl::Status Set(const std::vector<absl::string_view>& arguments) {
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    absl::string_view argument = *it;
    if (!absl::ConsumePrefix(&argument, "--")) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", argument,
                       "' is not a flag; those look like "
                       "--ttl=3h, and --help lists them"));
    }
    std::pair<absl::string_view, absl::string_view> flag =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    absl::Status status = CheckName(flag.first);
    if (!status.ok()) return status;
    if (flag.first.size() == argument.size()) {
      if (std::next(it) == arguments.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--", flag.first, " needs a value: ", Find(flag.first).Help()));
      }
      flag.second = *++it;
    }
    std::string error;
    absl::CommandLineFlag& target = Find(flag.first);
    if (!target.ParseFrom(flag.second, &error)) {
      absl::string_view why = error;  // Less what Refuse() says in our way.
      absl::ConsumePrefix(
          &why, absl::StrCat("Illegal value '", flag.second,
                             "' specified for flag '", target.Name(), "'; "));
      return Refuse(flag.first, flag.second, why);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCheckpoints(const mayfly::JobOptions& job) {
  if (job.checkpoints &&
      job.checkpoints->directory == job.savepoint_directory) {
    return Refuse("savepoint-on-stop", job.savepoint_directory,
                  "must be another directory than --checkpoint-dir");
  }
  if (job.state_directory.empty() &&
      (job.checkpoints || job.savepoint_on_stop || !job.restore_from.empty())) {
    return Refuse("state-dir", "",
                  "must be a directory for --checkpoint-dir, "
                  "--savepoint-on-stop and --restore-from to be of use");
  }
  return absl::OkStatus();
}

// What no flag can tell by itself.
absl::Status Check(const Flags& flags) {
  if (flags.input.empty()) {
    return Refuse("input", "", "must be a file, or - for standard input");
  }
  if (flags.output.empty()) {
    return Refuse("output", "",
                  "must be a file or directory, or - for standard output");
  }
  if (flags.job.state_directory.empty() &&
      flags.job.backend == mayfly::BackendKind::kRocksdb) {
    return Refuse("state-dir", "",
                  "must be a directory, or use --backend=heap as well");
  }
  return CheckCheckpoints(flags.job);
}

void SetCheckpoints(mayfly::JobOptions& job) {
  const std::string directory = absl::GetFlag(FLAGS_checkpoint_dir);
  if (!directory.empty()) {
    job.checkpoints = mayfly::CheckpointOptions{
        .directory = directory,
        .interval = absl::GetFlag(FLAGS_checkpoint_interval).value,
        .keep = absl::GetFlag(FLAGS_checkpoint_keep).value};
  }
  job.savepoint_directory = absl::GetFlag(FLAGS_savepoint_on_stop);
  job.savepoint_on_stop = !job.savepoint_directory.empty();
  job.restore_from = absl::GetFlag(FLAGS_restore_from);
}

}  // namespace

bool AsksForHelp(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
    return argument == "--help";
  });
}

std::string HelpText() {
  std::string text = R"(usage: airport_delays [FLAGS]

Reads flights, a line of JSON each, and writes for each one how delayed its
airport has been of late. Killed at any moment and started again with the same
flags, it goes on where it was.

)";
  for (const char* name : kNames) {
    const absl::CommandLineFlag& flag = Find(name);
    absl::StrAppend(&text, "  --", name, "=", flag.DefaultValue(), "\n      ",
                    absl::StrReplaceAll(flag.Help(), {{"\n", "\n      "}}),
                    "\n");
  }
  return text;
}

absl::StatusOr<Flags> ParseFlags(int argc, char** argv) {
  absl::Status status = Set({argv + 1, argv + argc});
  if (!status.ok()) return status;
  Flags flags;
  flags.input = absl::GetFlag(FLAGS_input);
  flags.output = absl::GetFlag(FLAGS_output);
  flags.ttl = absl::GetFlag(FLAGS_ttl).value;
  flags.time = absl::GetFlag(FLAGS_time).value;
  flags.update = absl::GetFlag(FLAGS_update).value;
  flags.visibility = absl::GetFlag(FLAGS_visibility).value;
  flags.progress_interval = absl::GetFlag(FLAGS_progress_interval).value;
  flags.job.name = "airport_delays";
  flags.job.state_directory = absl::GetFlag(FLAGS_state_dir);
  flags.job.shards = absl::GetFlag(FLAGS_shards).value;
  flags.job.backend = absl::GetFlag(FLAGS_backend).value;
  flags.job.commit_interval = absl::GetFlag(FLAGS_commit_interval).value;
  flags.job.malformed_lines_max = absl::GetFlag(FLAGS_max_malformed).value;
  SetCheckpoints(flags.job);
  status = Check(flags);
  if (!status.ok()) return status;
  return flags;
}

}  // namespace airport_delays
