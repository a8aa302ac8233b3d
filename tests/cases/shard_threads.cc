#include "tests/cases/shard_threads.h"

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::cases {
namespace {

using state_test::Must;
using Key = std::int64_t;
using Maximum = ReducingStateDescriptor<Key>;
using Value = ValueStateDescriptor<Key>;

constexpr int kShards = 3;
constexpr Key kKeys = 1000;
constexpr std::int64_t kTtlMs = 100;

// What all shards are made of.
struct Job {
  Value value = state_test::Describe<Value>("value", state_test::Ttl(kTtlMs));
  Maximum maximum{"maximum", [](Key a, Key b) { return a > b ? a : b; }};
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::atomic<int> running = kShards;
  std::atomic<std::int64_t> found = 0;
  std::atomic<std::int64_t> expired = 0;
};

class ShardRun {
 public:
  ShardRun(Job& job, const BackendOptions& options, unsigned seed)
      : job_(job),
        backend_(KeyedStateBackend<Key>::Open(options).value()),
        value_(*backend_->GetState(job.value).value()),
        maximum_(*backend_->GetState(job.maximum).value()),
        random_(seed) {}

  void Run(std::int64_t reads) {
    for (std::int64_t i = 0; i < reads && !::testing::Test::HasFailure(); ++i) {
      ReadOne();
      if (i % 4 == 0) WriteOne(i / 4 % kKeys);
      if (i % 1000 == 0) Must(backend_->CleanUp(100).status());
      if (i % 10'000 == 0) Must(backend_->Commit());
    }
  }

 private:
  void ReadOne() {
    const Key key = static_cast<Key>(random_() % kKeys);
    backend_->SetCurrentKey(key);
    const Key* const value = value_.Value().value();
    if (value == nullptr) {
      ++job_.expired;
    } else {
      ++job_.found;
      EXPECT_EQ(*value, key);
    }
    const Key* const maximum = maximum_.Get().value();
    EXPECT_EQ(maximum == nullptr ? key : *maximum, key);
  }

  void WriteOne(Key key) {
    backend_->SetCurrentKey(key);
    Must(value_.Update(key));
    Must(maximum_.Add(key));
  }

  Job& job_;
  const std::unique_ptr<KeyedStateBackend<Key>> backend_;
  ValueState<Key>& value_;
  ReducingState<Key>& maximum_;
  std::mt19937 random_;
};

}  // namespace

void ExpectShardsToKeepTheirKeysApart(
    BackendKind kind, std::int64_t reads_per_shard,
    const std::shared_ptr<StorageResources>& storage) {
  const TempDirectory directory;
  Job job;
  job.maximum.EnableTimeToLive(state_test::Ttl(kTtlMs));
  std::vector<std::thread> threads;
  for (unsigned shard = 0; shard < kShards; ++shard) {
    BackendOptions options;
    options.kind = kind;
    options.directory = directory.Path("shard-" + std::to_string(shard));
    options.processing_clock = job.clock;
    options.table_bytes_max = 1 << 16;
    options.storage = storage;
    threads.emplace_back([&job, options, shard, reads_per_shard] {
      ShardRun(job, options, shard).Run(reads_per_shard);
      --job.running;
    });
  }
  threads.emplace_back([&job] {  // So slowly that some are found alive.
    for (std::int64_t seen = 0; job.running > 0; std::this_thread::yield()) {
      const std::int64_t found = job.found;
      if (found < seen + 100) continue;
      seen = found;
      job.clock->Advance(std::chrono::milliseconds(10));
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(job.found, reads_per_shard / 100);
  EXPECT_GT(job.expired, reads_per_shard / 100);
}

}  // namespace mayfly::cases
