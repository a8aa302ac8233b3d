// How long a commit of a large state on heap holds up the records, and how much
// memory it takes.
//
//   mayfly_heap_commit [ENTRIES]        5 million by default
//
// Each way of committing runs in a process of its own, since a process cannot
// take back how much memory it once had.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "bench/harness/memory.h"
#include "bench/harness/must.h"
#include "bench/harness/shard.h"
#include "bench/harness/temporary_directory.h"
#include "mayfly/state/keyed_state_backend.h"

namespace mayfly::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Payload = std::pair<std::int64_t, std::int64_t>;

double MsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

// How long each of some records took.
class Pauses {
 public:
  void Add(double ms) {
    ++records_;
    total_ms_ += ms;
    longest_ms_ = std::max(longest_ms_, ms);
    over_a_ms_ += ms > 1 ? 1 : 0;
  }
  double longest_ms() const { return longest_ms_; }
  std::uint64_t records() const { return records_; }
  std::uint64_t over_a_ms() const { return over_a_ms_; }
  double ns_per_record() const {
    return total_ms_ * 1e6 / static_cast<double>(records_);
  }

 private:
  std::uint64_t records_ = 0;
  std::uint64_t over_a_ms_ = 0;
  double total_ms_ = 0;
  double longest_ms_ = 0;
};

// A state that is read and written at random keys, or a plain hash map.
class Load {
 public:
  virtual ~Load() = default;
  virtual void Record(std::int64_t key) = 0;
  // Begins a commit; how long that held up the records is the caller's.
  virtual void Begin() = 0;
  // What comes between two records. False once the commit is complete.
  virtual bool GoOn() = 0;
};

class MayflyLoad : public Load {
 public:
  MayflyLoad(std::int64_t entries, bool apart) : apart_(apart) {
    BackendOptions options;
    options.kind = BackendKind::kHeap;
    options.directory = directory_.path();
    backend_ = Must(KeyedStateBackend<std::int64_t>::Open(options));
    ValueStateDescriptor<Payload> descriptor("value");
    descriptor.EnableTimeToLive(Must(LongTtl().Build()));
    state_ = Must(backend_->GetState(descriptor));
    for (std::int64_t key = 0; key < entries; ++key) {
      backend_->SetCurrentKey(key);
      Must(state_->Update({key, key * 2'654'435'761}));
    }
  }

  void Record(std::int64_t key) override {
    backend_->SetCurrentKey(key);
    Payload payload = *Must(state_->Value());
    ++payload.first;
    Must(state_->Update(payload));
  }

  void Begin() override {
    Must(apart_ ? backend_->BeginCommit() : backend_->Commit());
  }

  bool GoOn() override {
    // Now and then, as a job does it after each batch.
    if (!backend_->committing()) return false;
    if (++records_ % kBatch != 0) return true;
    if (backend_->StepCommit() != CommitProgress::kReady) return true;
    Must(backend_->FinishCommit());
    return false;
  }

 private:
  static constexpr int kBatch = 1000;

  const bool apart_;
  const TemporaryDirectory directory_;
  std::unique_ptr<KeyedStateBackend<std::int64_t>> backend_;
  ValueState<Payload>* state_ = nullptr;
  std::uint64_t records_ = 0;
};

// What a commit must beat: the whole map copied, to be written by another.
class CopyLoad : public Load {
 public:
  explicit CopyLoad(std::int64_t entries) {
    for (std::int64_t key = 0; key < entries; ++key) {
      map_[key] = {{key, key * 2'654'435'761}, 0};
    }
  }
  void Record(std::int64_t key) override { ++map_[key].first.first; }
  void Begin() override { copy_ = map_; }
  bool GoOn() override { return false; }

 private:
  using Map =
      absl::flat_hash_map<std::int64_t, std::pair<Payload, TimestampMs>>;

  Map map_;
  Map copy_;
};

void Measure(const char* name, std::int64_t entries, Load& load) {
  std::uint64_t random = 7;
  const auto record = [&] {
    random = random * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    load.Record(static_cast<std::int64_t>((random >> 20) %
                                          static_cast<std::uint64_t>(entries)));
  };
  Pauses usual;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto begin = Clock::now();
    record();
    usual.Add(MsSince(begin));
  }
  ForgetPeak();
  const double memory = MemoryOf("VmRSS");
  Pauses meanwhile;
  const auto began = Clock::now();
  load.Begin();
  record();
  meanwhile.Add(MsSince(began));
  bool under_way = true;
  while (under_way) {
    const auto begin = Clock::now();
    record();
    under_way = load.GoOn();
    meanwhile.Add(MsSince(begin));
  }
  const double seconds = MsSince(began) / 1000;
  std::printf(
      "| %s | %.2f | %llu | %.2f | %.3f | %llu | %.0f | %.0f | %.2fx |\n", name,
      meanwhile.longest_ms(),
      static_cast<unsigned long long>(meanwhile.over_a_ms()),
      usual.longest_ms(), seconds,
      static_cast<unsigned long long>(meanwhile.records()),
      meanwhile.ns_per_record(), usual.ns_per_record(),
      MemoryOf("VmHWM") / memory);
  std::fflush(stdout);
}

// Runs in a process of its own.
template <typename Make>
bool InChild(const char* name, std::int64_t entries, Make make) {
  const pid_t child = ::fork();
  if (child == 0) {
    {
      const std::unique_ptr<Load> load = make();
      Measure(name, entries, *load);
    }
    std::_Exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

bool MeasureAll(std::int64_t entries) {
  std::printf(
      "| of %lld entries | longest record, ms | over 1 ms | without a commit, "
      "ms | seconds | records meanwhile | ns a record | without a commit | "
      "memory peak |\n|---|---|---|---|---|---|---|---|---|\n",
      static_cast<long long>(entries));
  std::fflush(stdout);
  return InChild("a full copy of a flat_hash_map", entries,
                 [&] { return std::make_unique<CopyLoad>(entries); }) &&
         InChild("Commit()", entries,
                 [&] {
                   return std::make_unique<MayflyLoad>(entries,
                                                       /*apart=*/false);
                 }) &&
         InChild("BeginCommit() ... FinishCommit()", entries, [&] {
           return std::make_unique<MayflyLoad>(entries, /*apart=*/true);
         });
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  const std::int64_t entries =
      argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 5'000'000;
  if (entries < 1000) {
    std::fprintf(stderr,
                 "usage: mayfly_heap_commit [ENTRIES], at least 1000\n");
    return 2;
  }
  return mayfly::bench::MeasureAll(entries) ? 0 : 1;
}
