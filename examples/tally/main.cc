// State without a job, saved and restored: a loop of your own that counts
// words, leaves a savepoint, and goes on from one.
//
//   tally count STATE SAVEPOINT < words    prints each word, and how often it
//                                          has been seen; then saves all counts
//   tally restore SAVEPOINT STATE          fills a new state directory
//
// Given the same words and more, a run passes by those that it has counted.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/state/savepoint.h"

namespace {

using Backend = mayfly::KeyedStateBackend<std::string>;
using Counts = mayfly::ValueState<std::int64_t>;

mayfly::BackendOptions OptionsFor(const std::string& directory) {
  mayfly::BackendOptions options;
  options.kind = mayfly::BackendKind::kRocksdb;
  options.directory = directory;
  return options;
}

// Makes the counts durable, and with them how many lines they are of.
absl::Status CommitAt(Backend& backend, std::int64_t lines) {
  return backend.Commit(std::to_string(lines));
}

std::int64_t LinesCounted(const Backend& backend) {
  if (!backend.has_commit()) return 0;
  return std::stoll(backend.committed_position());
}

// Puts what is committed into a new file. As soon as the checkpoint is there,
// the backend can be used again, and another thread could write the savepoint.
absl::Status Save(Backend& backend, const std::string& file) {
  const std::string checkpoint = file + "-checkpoint";
  MAYFLY_RETURN_IF_ERROR(backend.Checkpoint(checkpoint).status());
  absl::Status written = mayfly::WriteSavepoint(checkpoint, file).status();
  std::error_code ignored;
  std::filesystem::remove_all(checkpoint, ignored);
  return written;
}

// Fills a new directory, for the backend that the options name, whichever one
// was saved. The position comes with the state.
absl::Status Restore(const std::string& file, const std::string& directory) {
  return mayfly::RestoreShard({.sources = {file}}, OptionsFor(directory))
      .status();
}

absl::Status CountLine(Backend& backend, Counts& counts,
                       const std::string& word) {
  backend.SetCurrentKey(word);
  MAYFLY_ASSIGN_OR_RETURN(const std::int64_t* const before, counts.Value());
  const std::int64_t count = before == nullptr ? 1 : *before + 1;
  std::cout << word << " " << count << std::endl;
  return counts.Update(count);
}

absl::Status Count(const std::string& directory, const std::string& savepoint) {
  MAYFLY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                          Backend::Open(OptionsFor(directory)));
  MAYFLY_ASSIGN_OR_RETURN(
      Counts* const counts,
      backend->GetState(mayfly::ValueStateDescriptor<std::int64_t>("counts")));
  const std::int64_t counted = LinesCounted(*backend);
  std::int64_t lines = 0;
  for (std::string word; std::getline(std::cin, word);) {
    if (++lines <= counted) continue;
    MAYFLY_RETURN_IF_ERROR(CountLine(*backend, *counts, word));
    if (lines % 1000 == 0) {
      MAYFLY_RETURN_IF_ERROR(CommitAt(*backend, lines));
    }
  }
  MAYFLY_RETURN_IF_ERROR(CommitAt(*backend, std::max(lines, counted)));
  return Save(*backend, savepoint);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc == 4 ? argv[1] : "";
  if (command != "count" && command != "restore") {
    std::cerr << "usage: tally count STATE SAVEPOINT < words\n"
                 "       tally restore SAVEPOINT STATE"
              << std::endl;
    return 2;
  }
  const absl::Status status =
      command == "count" ? Count(argv[2], argv[3]) : Restore(argv[2], argv[3]);
  if (!status.ok()) std::cerr << "tally: " << status << std::endl;
  return status.ok() ? 0 : 1;
}
