// Mayfly as a contender: the state of one shard, in a directory that goes with
// it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "bench/harness/must.h"
#include "bench/harness/temporary_directory.h"
#include "mayfly/state/keyed_state_backend.h"

namespace mayfly::bench {

// Time that passes by operations, so that entries grow as old in a second of
// benchmark as in minutes of work.
class SteppedClock final : public TtlClock {
 public:
  TimestampMs NowMs() const override {
    return now_us_.load(std::memory_order_relaxed) / 1000;
  }
  void Step(std::chrono::microseconds step) {
    now_us_.store(now_us_.load(std::memory_order_relaxed) + step.count(),
                  std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> now_us_{1'700'000'000'000'000};
};

struct ShardOptions {
  BackendKind kind = BackendKind::kRocksdb;
  std::size_t table_bytes_max = BackendOptions().table_bytes_max;
  // Null: the machine's clock.
  std::shared_ptr<const TtlClock> clock = nullptr;
  // Changes between two commits; 0 never commits.
  std::size_t commit_every = 0;
};

// A TTL under which nothing expires while a benchmark runs.
inline StateTtlConfig::Builder LongTtl() {
  return StateTtlConfig::NewBuilder(std::chrono::hours(24));
}

// The same without any clean-up in the background, for what that costs.
inline StateTtlConfig::Builder LongTtlWithoutCleanup() {
  return LongTtl().DisableCleanupInBackground();
}

// For a state without one.
inline StateTtlConfig::Builder NoTtl() {
  return StateTtlConfig::NewInfiniteBuilder().SetUpdateType(
      UpdateType::kDisabled);
}

template <typename K>
class Shard {
 public:
  explicit Shard(const ShardOptions& options)
      : commit_every_(options.commit_every) {
    BackendOptions backend_options;
    backend_options.kind = options.kind;
    if (options.kind == BackendKind::kRocksdb) {
      backend_options.directory = directory_.path();
    }
    backend_options.table_bytes_max = options.table_bytes_max;
    backend_options.processing_clock = options.clock;
    backend_ = Must(KeyedStateBackend<K>::Open(backend_options));
  }

  KeyedStateBackend<K>& backend() { return *backend_; }

  // After each operation, as a job does it after each record.
  void CommitIfDue() {
    if (commit_every_ == 0) return;
    if (++uncommitted_ >= commit_every_ || backend_->commit_due()) Commit();
  }

  void Commit() {
    if (commit_every_ == 0) return;
    Must(backend_->Commit());
    uncommitted_ = 0;
  }

 private:
  const TemporaryDirectory directory_;
  const std::size_t commit_every_;
  std::unique_ptr<KeyedStateBackend<K>> backend_;
  std::size_t uncommitted_ = 0;
};

}  // namespace mayfly::bench
