// Writes the savepoint that savepoint_reader_test.py knows by heart:
//   write_savepoint heap|rocksdb FILE
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/temp_directory.h"

namespace {

constexpr std::int64_t kStartMs = 1'700'000'000'000;

absl::Status Run(std::string_view backend_name, const std::string& file) {
  const mayfly::TempDirectory directory;
  const auto clock = std::make_shared<mayfly::ManualClock>(kStartMs);
  mayfly::BackendOptions options;
  options.kind = backend_name == "heap" ? mayfly::BackendKind::kHeap
                                        : mayfly::BackendKind::kRocksdb;
  options.directory = directory.Path("shard");
  options.processing_clock = clock;
  MAYFLY_ASSIGN_OR_RETURN(
      const auto backend,
      mayfly::KeyedStateBackend<std::string>::Open(options));
  MAYFLY_ASSIGN_OR_RETURN(
      const mayfly::StateTtlConfig ttl,
      mayfly::StateTtlConfig::NewBuilder(std::chrono::hours(3)).Build());

  mayfly::ValueStateDescriptor<std::int64_t> streak("streak");
  mayfly::ListStateDescriptor<std::string> recent("recent");
  recent.EnableTimeToLive(ttl);
  mayfly::MapStateDescriptor<std::string, std::optional<std::string>> routes(
      "routes");
  routes.EnableTimeToLive(ttl);
  MAYFLY_ASSIGN_OR_RETURN(auto* const streaks, backend->GetState(streak));
  MAYFLY_ASSIGN_OR_RETURN(auto* const recents, backend->GetState(recent));
  MAYFLY_ASSIGN_OR_RETURN(auto* const all_routes, backend->GetState(routes));

  backend->SetCurrentKey("DTW");
  MAYFLY_RETURN_IF_ERROR(streaks->Update(7));
  MAYFLY_RETURN_IF_ERROR(recents->Add("a"));
  MAYFLY_RETURN_IF_ERROR(all_routes->Put("ORD", "daily"));
  clock->Advance(std::chrono::milliseconds(1));
  MAYFLY_RETURN_IF_ERROR(recents->Add(""));
  MAYFLY_RETURN_IF_ERROR(all_routes->Put("", std::nullopt));
  backend->SetCurrentKey("");
  MAYFLY_RETURN_IF_ERROR(streaks->Update(-1));
  MAYFLY_RETURN_IF_ERROR(backend->Commit("line 42"));

  const std::string checkpoint = directory.Path("checkpoint");
  MAYFLY_RETURN_IF_ERROR(backend->Checkpoint(checkpoint).status());
  return mayfly::WriteSavepoint(checkpoint, file).status();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_savepoint heap|rocksdb FILE\n";
    return 2;
  }
  const absl::Status status = Run(argv[1], argv[2]);
  if (!status.ok()) std::cerr << "write_savepoint: " << status << "\n";
  return status.ok() ? 0 : 1;
}
