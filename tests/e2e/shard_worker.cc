// A program to be killed: on a shard it writes, commits, sweeps and migrates,
// step by step, and prints after each commit what can be seen.
//
//   shard_worker DIRECTORY heap|rocksdb STEPS
//
// All it does follows from the number of the step, so that whoever goes on
// where another was killed does what that one would have done. Standard output:
// a line `<steps committed> <checksum>` for each look; standard error: what it
// is about to do.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/manual_clock.h"

namespace mayfly::e2e {
namespace {

constexpr int kKeys = 500;
constexpr int kWritesPerStep = 250;
// So many steps the states have a TTL, and so many they have none.
constexpr int kStepsPerEpoch = 4;
constexpr std::int64_t kStepMs = 1000;
constexpr std::int64_t kTtlMs = 2 * kStepMs;

using Backend = KeyedStateBackend<std::string>;

// Source: FNV-1a, 64 bits (Fowler, Noll, Vo).
class Checksum {
 public:
  void Add(std::string_view text) {
    for (const char c : text) Byte(static_cast<unsigned char>(c));
    Byte(0xff);
  }
  std::uint64_t value() const { return value_; }

 private:
  void Byte(unsigned char byte) {
    value_ = (value_ ^ byte) * 1'099'511'628'211U;
  }

  std::uint64_t value_ = 14'695'981'039'346'656'037U;
};

void Say(std::string_view what) { std::cerr << what << std::endl; }

class Worker {
 public:
  Worker(std::string directory, BackendKind kind)
      : clock_(std::make_shared<ManualClock>()) {
    options_.kind = kind;
    options_.directory = std::move(directory);
    options_.processing_clock = clock_;
    options_.rocksdb.all_states.write_buffer_bytes = 64 << 10;
    options_.rocksdb.all_states.file_bytes = 64 << 10;
    options_.table_bytes_max = 64 << 10;
  }

  absl::Status Run(int steps) {
    MAYFLY_RETURN_IF_ERROR(Open());
    while (step_ < steps) {
      MAYFLY_RETURN_IF_ERROR(Step());
      MAYFLY_RETURN_IF_ERROR(Look());
      MAYFLY_RETURN_IF_ERROR(Sweep());
      if (step_ % kStepsPerEpoch == 0) MAYFLY_RETURN_IF_ERROR(Open());
    }
    return absl::OkStatus();
  }

 private:
  bool has_ttl() const { return step_ / kStepsPerEpoch % 2 == 0; }

  template <typename Descriptor>
  absl::StatusOr<Descriptor> Describe(std::string name) const {
    Descriptor descriptor(std::move(name));
    descriptor.AllowTtlMigration();
    if (!has_ttl()) return descriptor;
    MAYFLY_ASSIGN_OR_RETURN(
        const StateTtlConfig ttl,
        StateTtlConfig::NewBuilder(std::chrono::milliseconds(kTtlMs)).Build());
    descriptor.EnableTimeToLive(ttl);
    return descriptor;
  }

  absl::Status Open() {
    Say("opening");
    backend_.reset();
    // What the clock of the shard says is told by its last commit, at most.
    clock_->SetMs(step_ * kStepMs);
    MAYFLY_ASSIGN_OR_RETURN(backend_, Backend::Open(options_));
    step_ = std::atoi(backend_->committed_position().c_str());
    clock_->SetMs(step_ * kStepMs);
    Say("migrating");
    MAYFLY_ASSIGN_OR_RETURN(
        const auto value, Describe<ValueStateDescriptor<std::string>>("value"));
    MAYFLY_ASSIGN_OR_RETURN(value_, backend_->GetState(value));
    MAYFLY_ASSIGN_OR_RETURN(const auto list,
                            Describe<ListStateDescriptor<std::string>>("list"));
    MAYFLY_ASSIGN_OR_RETURN(list_, backend_->GetState(list));
    using Map = MapStateDescriptor<std::int32_t, std::string>;
    MAYFLY_ASSIGN_OR_RETURN(const auto map, Describe<Map>("map"));
    MAYFLY_ASSIGN_OR_RETURN(map_, backend_->GetState(map));
    return Look();
  }

  absl::Status Step() {
    Say("writing");
    std::minstd_rand random(static_cast<unsigned>(step_) + 1);
    for (int i = 0; i < kWritesPerStep; ++i) {
      backend_->SetCurrentKey(std::to_string(random() % kKeys));
      const std::string text =
          std::to_string(step_) + std::string(random() % 100, 'x');
      const auto map_key = static_cast<std::int32_t>(random() % 4);
      absl::Status status;
      switch (random() % 6) {
        case 0:
        case 1:
          status = value_->Update(text);
          break;
        case 2:
          status = list_->Add(text);
          break;
        case 3:
          status = map_->Put(map_key, text);
          break;
        case 4:
          status = map_->Remove(map_key);
          break;
        default:
          status = list_->Clear();
          break;
      }
      MAYFLY_RETURN_IF_ERROR(status);
    }
    Say("committing");
    MAYFLY_RETURN_IF_ERROR(backend_->Commit(std::to_string(step_ + 1)));
    ++step_;
    clock_->SetMs(step_ * kStepMs);
    return absl::OkStatus();
  }

  absl::Status Sweep() {
    Say("sweeping");
    MAYFLY_RETURN_IF_ERROR(backend_->CleanUp().status());
    const std::shared_ptr<DiskSweeper> sweeper = backend_->disk_sweeper();
    if (sweeper == nullptr) return absl::OkStatus();
    const SweepOptions eager{.staleness_max =
                                 std::chrono::milliseconds(kStepMs)};
    return sweeper->Sweep(eager, clock_->NowMs()).status();
  }

  absl::Status Look() {
    Checksum checksum;
    for (int key = 0; key < kKeys; ++key) {
      backend_->SetCurrentKey(std::to_string(key));
      MAYFLY_ASSIGN_OR_RETURN(const std::string* const value, value_->Value());
      checksum.Add(value == nullptr ? "no value" : *value);
      MAYFLY_ASSIGN_OR_RETURN(const auto elements, list_->Get());
      for (const std::string& element : elements) checksum.Add(element);
      for (std::int32_t map_key = 0; map_key < 4; ++map_key) {
        MAYFLY_ASSIGN_OR_RETURN(const std::string* const entry,
                                map_->Get(map_key));
        checksum.Add(entry == nullptr ? "no entry" : *entry);
      }
    }
    std::cout << step_ << " " << checksum.value() << std::endl;
    return absl::OkStatus();
  }

  const std::shared_ptr<ManualClock> clock_;
  BackendOptions options_;
  int step_ = 0;
  std::unique_ptr<Backend> backend_;
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::int32_t, std::string>* map_ = nullptr;
};

}  // namespace
}  // namespace mayfly::e2e

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: shard_worker DIRECTORY heap|rocksdb STEPS\n";
    return 2;
  }
  mayfly::e2e::Worker worker(argv[1], std::string_view(argv[2]) == "heap"
                                          ? mayfly::BackendKind::kHeap
                                          : mayfly::BackendKind::kRocksdb);
  const absl::Status status = worker.Run(std::atoi(argv[3]));
  if (!status.ok()) std::cerr << status << std::endl;
  return status.ok() ? 0 : 1;
}
