#include "mayfly/commands.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "mayfly/report.h"
#include "mayfly/runtime/stored_checkpoint.h"
#include "mayfly/runtime/stored_job.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/shards.h"
#include "mayfly/state/inspect.h"
#include "mayfly/state/maintenance.h"
#include "mayfly/state/savepoint.h"
#include "nlohmann/json.hpp"

namespace mayfly::tool {
namespace {

InspectOptions OptionsFor(const InspectArguments& arguments) {
  InspectOptions options;
  options.expired_in = {std::chrono::hours(1), std::chrono::hours(24),
                        std::chrono::hours(24 * 7)};
  if (!arguments.as_of_commit) {
    options.processing_now_ms = SystemClock()->NowMs();
  }
  return options;
}

absl::Status InspectOneKey(const InspectArguments& arguments,
                           const std::vector<std::string>& shards) {
  std::vector<FoundEntries> found;
  for (const std::string& shard : shards) {
    FoundEntries& in_shard = found.emplace_back();
    in_shard.shard = shard;
    MAYFLY_ASSIGN_OR_RETURN(in_shard.entries,
                            InspectKey(shard, arguments.state, arguments.key,
                                       OptionsFor(arguments)));
  }
  std::cout << (arguments.json ? JsonOf(found) : TextOf(found));
  return absl::OkStatus();
}

// Says now and then how far it is, on standard error.
class ProgressLine {
 public:
  void operator()(const TransferProgress& progress) {
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start_);
    if (seconds < next_) return;
    next_ = seconds + 1;
    const double rate = static_cast<double>(progress.keys_done) / seconds;
    const double left =
        progress.keys_total > progress.keys_done
            ? static_cast<double>(progress.keys_total - progress.keys_done)
            : 0;
    std::cerr << absl::StrFormat(
        "mayfly: %d of about %d keys, %.0f keys/s, about %.0f s left\n",
        progress.keys_done, progress.keys_total, rate, left / rate);
  }

 private:
  const absl::Time start_ = absl::Now();
  double next_ = 1;
};

void PrintResult(const TransferProgress& progress, const std::string& to) {
  std::cout << absl::StrFormat("%s: %d keys read, %d bytes, %d expired\n", to,
                               progress.keys_done, progress.bytes_done,
                               progress.keys_expired);
}

absl::Status SavepointOfJob(const std::string& path, const std::string& to) {
  MAYFLY_ASSIGN_OR_RETURN(const WrittenSavepoint written,
                          WriteJobSavepoint(path, to));
  std::cout << written.path << ": " << written.bytes << " bytes\n";
  return absl::OkStatus();
}

}  // namespace

absl::Status Inspect(const InspectArguments& arguments) {
  MAYFLY_ASSIGN_OR_RETURN(const Stored stored, Find(arguments.path));
  if (arguments.by_key) return InspectOneKey(arguments, stored.shards);
  const InspectOptions options = OptionsFor(arguments);
  std::vector<InspectedShard> shards;
  bool has_state = arguments.state.empty();
  for (const std::string& path : stored.shards) {
    MAYFLY_ASSIGN_OR_RETURN(InspectedShard shard, InspectShard(path, options));
    if (!arguments.state.empty()) {
      std::erase_if(shard.states, [&](const InspectedState& state) {
        return state.name != arguments.state;
      });
    }
    has_state = has_state || !shard.states.empty();
    shards.push_back(std::move(shard));
  }
  if (!has_state) {
    return absl::NotFoundError(absl::StrCat(
        "no shard of '", stored.path, "' has a state '", arguments.state, "'"));
  }
  std::cout << (arguments.json ? JsonOf(shards, options)
                               : TextOf(shards, options));
  return absl::OkStatus();
}

absl::Status Verify(const std::string& path, bool json) {
  MAYFLY_ASSIGN_OR_RETURN(const Stored stored, Find(path));
  nlohmann::json results = nlohmann::json::array();
  std::size_t bad = 0;
  // Others could not be read, and may be good.
  std::size_t damaged = 0;
  const auto note = [&](const std::string& what, const absl::Status& status) {
    const std::string message(status.message());
    if (!status.ok()) ++bad;
    if (!absl::IsPermissionDenied(status) && !absl::IsUnavailable(status)) {
      damaged += status.ok() ? 0 : 1;
    }
    results.push_back(
        {{"path", what}, {"ok", status.ok()}, {"error", message}});
    if (json) return;
    std::cout << what << ": " << (status.ok() ? "good" : message) << "\n";
  };
  if (stored.is_checkpoint) note(stored.path, VerifyCheckpoint(stored.path));
  if (IsJobDirectory(stored.path)) {
    note(stored.path, VerifyJobDirectory(stored.path));
  }
  for (const std::string& shard : stored.shards) {
    note(shard, VerifyShard(shard));
  }
  if (json) std::cout << Dump({{"results", results}});
  if (bad == 0) return absl::OkStatus();
  const std::string message =
      absl::StrCat(bad, " of ", results.size(), " are not good");
  return damaged > 0 ? absl::DataLossError(message)
                     : absl::UnavailableError(message);
}

absl::Status Compact(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const Stored stored, Find(path));
  if (std::ranges::any_of(stored.shards, IsInCheckpoint)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", stored.path,
        "' is of a checkpoint, which must stay as it is; compact the state "
        "directory of the job"));
  }
  for (const std::string& shard : stored.shards) {
    MAYFLY_RETURN_IF_ERROR(CompactShard(shard));
    std::cout << shard << ": compacted\n";
  }
  return absl::OkStatus();
}

absl::Status Savepoint(const std::string& path, const std::string& to) {
  if (IsJobDirectory(path)) return SavepointOfJob(path, to);
  MAYFLY_RETURN_IF_ERROR(CheckIsOneShard(path));
  MAYFLY_ASSIGN_OR_RETURN(const TransferProgress progress,
                          WriteSavepoint(path, to,
                                         {.on_progress = ProgressLine(),
                                          .durability = Durability::kMachine}));
  PrintResult(progress, to);
  return absl::OkStatus();
}

absl::Status Restore(const RestoreArguments& arguments) {
  for (const std::string& source : arguments.sources) {
    MAYFLY_RETURN_IF_ERROR(CheckIsOneShard(source));
  }
  const RestorePlan plan{.sources = arguments.sources,
                         .shard = arguments.shard,
                         .shards = arguments.shards,
                         .position = arguments.position};
  BackendOptions target;
  target.kind = arguments.backend;
  target.directory = arguments.directory;
  MAYFLY_ASSIGN_OR_RETURN(const TransferProgress progress,
                          RestoreShard(plan, target,
                                       {.on_progress = ProgressLine(),
                                        .durability = Durability::kMachine}));
  PrintResult(progress, target.directory);
  MAYFLY_ASSIGN_OR_RETURN(const InspectedShard restored,
                          InspectCommit(target.directory));
  std::cout << target.directory << ": position "
            << (restored.position.empty()
                    ? "none"
                    : absl::StrCat("0x",
                                   absl::BytesToHexString(restored.position)))
            << "\n";
  return absl::OkStatus();
}

}  // namespace mayfly::tool
