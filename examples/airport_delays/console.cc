#include "airport_delays/console.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "airport_delays/flag_types.h"

namespace airport_delays {
namespace {

// 1234567 as 1,234,567.
std::string Grouped(std::uint64_t number) {
  std::string digits = absl::StrCat(number);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string Size(std::uint64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  const double kilobytes = static_cast<double>(bytes) / 1e3;
  return kilobytes < 1000 ? absl::StrFormat("%.1f kB", kilobytes)
                          : absl::StrFormat("%.1f MB", kilobytes / 1e3);
}

double Seconds(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

// An estimate bears a mark.
std::string Figure(std::uint64_t number, bool exact) {
  return absl::StrCat(exact ? "" : "~", Grouped(number));
}

void AppendState(const mayfly::StateStatistics& state, std::string& text) {
  absl::StrAppendFormat(&text, "  %-14s%10s%12s%12s%12s\n", state.state,
                        Figure(state.live_entries, state.exact),
                        Figure(state.bytes - state.expired_bytes, state.exact),
                        Figure(state.expired_entries, state.exact),
                        Figure(state.expired_bytes, state.exact));
}

// Live entries and expired ones side by side, so that what is still stored does
// not pass for what is still known.
void AppendStates(const Flags& flags, const mayfly::JobSummary& summary,
                  std::string& text) {
  absl::StrAppend(
      &text, "\n  state on ",
      AbslUnparseFlag(Choice<mayfly::BackendKind>{flags.job.backend}), " in ",
      summary.shards.size(), summary.shards.size() == 1 ? " shard" : " shards",
      ", with a TTL of ", AbslUnparseFlag(Ttl{flags.ttl}), " of ",
      AbslUnparseFlag(Choice<mayfly::TimeCharacteristic>{flags.time}),
      " time\n");
  absl::StrAppendFormat(&text, "  %-14s%10s%12s%12s%12s\n", "", "live", "bytes",
                        "expired*", "bytes");
  for (const mayfly::StateStatistics& state : summary.states) {
    AppendState(state, text);
  }
  absl::StrAppend(&text, "  * seen by nobody, and not removed yet\n\n");
}

void AppendWork(const mayfly::JobSummary& summary, std::string& text) {
  const double seconds = Seconds(summary.elapsed);
  const auto records = static_cast<double>(summary.records_in_this_run);
  absl::StrAppendFormat(
      &text, "  records %s in %.2f s (%s a second)",
      Grouped(summary.records_in_this_run), seconds,
      Grouped(static_cast<std::uint64_t>(records / std::max(seconds, 1e-3))));
  if (summary.records != summary.records_in_this_run) {
    absl::StrAppend(&text, ", ", Grouped(summary.records),
                    " with earlier runs");
  }
  absl::StrAppend(&text, ", ", Grouped(summary.malformed_lines),
                  summary.malformed_lines == 1 ? " malformed line\n"
                                               : " malformed lines\n");
}

void AppendTaken(const char* what, const mayfly::CheckpointReport& report,
                 std::string& text) {
  if (report.taken > 0) {
    absl::StrAppend(&text, "  newest ", what, " is ", report.newest, ", ",
                    Size(report.newest_bytes), "\n");
  }
  if (report.failed > 0) {
    absl::StrAppend(&text, "  ", report.failed, " ", what,
                    report.failed == 1 ? "" : "s", " failed\n");
  }
}

void AppendPlaces(const Flags& flags, const mayfly::JobSummary& summary,
                  std::string& text) {
  const std::size_t parts =
      summary.shards.size() + summary.retired_outputs.size();
  std::uint64_t output_bytes = 0;
  for (const mayfly::ShardSummary& shard : summary.shards) {
    output_bytes += shard.output_bytes;
  }
  for (const mayfly::RetiredOutput& output : summary.retired_outputs) {
    output_bytes += output.bytes;
  }
  const std::string& directory = flags.job.state_directory;
  absl::StrAppend(
      &text, "  state lies in  ",
      directory.empty() ? "memory alone, and is gone now" : directory,
      "\n  reports are in ",
      flags.output == "-" ? "standard output" : flags.output);
  if (flags.output != "-" && parts > 1) {
    absl::StrAppend(&text, ", ", parts, " parts");
  }
  absl::StrAppend(&text, ", ", Size(output_bytes), "\n");
  AppendTaken("checkpoint", summary.checkpoints, text);
  AppendTaken("savepoint", summary.savepoints, text);
}

}  // namespace

std::string FormatProgress(const mayfly::JobProgress& progress) {
  if (progress.restore) {
    return absl::StrFormat("%6.1f s  %s", Seconds(progress.elapsed),
                           progress.restore->ToString());
  }
  std::string text = absl::StrFormat(
      "%6.1f s  %s records, %s a second, %s", Seconds(progress.elapsed),
      Grouped(progress.records),
      Grouped(static_cast<std::uint64_t>(progress.records_per_second)),
      Size(progress.input_bytes));
  if (progress.input_bytes_total) {
    absl::StrAppend(&text, " of ", Size(*progress.input_bytes_total));
  }
  if (progress.watermark_ms > 0) {
    absl::StrAppend(
        &text, absl::FormatTime(", at %Y-%m-%d %H:%M",
                                absl::FromUnixMillis(progress.watermark_ms),
                                absl::UTCTimeZone()));
  }
  for (const mayfly::StateStatistics& state : progress.states) {
    absl::StrAppend(&text, "; ", state.state, " ",
                    Figure(state.live_entries, state.exact), " live, ",
                    Figure(state.expired_entries, state.exact), " expired");
  }
  return text;
}

std::string FormatSummary(const Flags& flags,
                          const mayfly::JobSummary& summary) {
  std::string text = summary.already_complete
                         ? "Nothing to do: an earlier run was complete.\n"
                     : summary.complete ? "Done.\n"
                                        : "Stopped; started again with the "
                                          "same flags, it goes on from here.\n";
  AppendWork(summary, text);
  AppendStates(flags, summary, text);
  AppendPlaces(flags, summary, text);
  return text;
}

}  // namespace airport_delays
