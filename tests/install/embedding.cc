// A program of somebody else, as small as one can be: keeps a value that
// expires, on both backends. Exits 0 if Mayfly does what it promises.
//
//   embedding SCRATCH_FOLDER
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "mayfly/state/keyed_state_backend.h"

namespace {

class MyClock : public mayfly::TtlClock {
 public:
  mayfly::TimestampMs NowMs() const override { return now_ms; }

  mayfly::TimestampMs now_ms = 1'000'000;
};

// Reads a value just before its time is up, and at that instant.
absl::Status Use(const mayfly::BackendOptions& options, MyClock& clock) {
  auto ttl =
      mayfly::StateTtlConfig::NewBuilder(std::chrono::seconds(1)).Build();
  if (!ttl.ok()) return ttl.status();
  mayfly::ValueStateDescriptor<std::int64_t> descriptor("streak");
  descriptor.EnableTimeToLive(*ttl);

  auto backend = mayfly::KeyedStateBackend<std::string>::Open(options);
  if (!backend.ok()) return backend.status();
  auto streak = (*backend)->GetState(descriptor);
  if (!streak.ok()) return streak.status();
  (*backend)->SetCurrentKey("DTW");
  if (absl::Status s = (*streak)->Update(7); !s.ok()) return s;
  if (absl::Status s = (*backend)->Commit(); !s.ok()) return s;

  clock.now_ms += 999;
  auto live = (*streak)->Value();
  if (!live.ok()) return live.status();
  if (*live == nullptr || **live != 7) {
    return absl::InternalError("a live value is gone");
  }
  clock.now_ms += 1;
  auto expired = (*streak)->Value();
  if (!expired.ok()) return expired.status();
  if (*expired != nullptr) {
    return absl::InternalError("an expired value is still there");
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: embedding SCRATCH_FOLDER\n";
    return 2;
  }
  for (const auto kind :
       {mayfly::BackendKind::kHeap, mayfly::BackendKind::kRocksdb}) {
    const std::filesystem::path directory =
        std::filesystem::path(argv[1]) / "embedding-state";
    std::filesystem::remove_all(directory);
    const auto clock = std::make_shared<MyClock>();
    mayfly::BackendOptions options;
    options.kind = kind;
    options.directory = directory.string();
    options.processing_clock = clock;
    const absl::Status status = Use(options, *clock);
    if (!status.ok()) {
      std::cerr << status << "\n";
      return 1;
    }
  }
  return 0;
}
