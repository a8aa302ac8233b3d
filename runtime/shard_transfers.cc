#include "runtime/shard_transfers.h"

#include <algorithm>
#include <cstddef>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/internal/guarded_call.h"

namespace mayfly::runtime_internal {

ShardTransfers::ShardTransfers(int shards, RestoreMeter& meter)
    : meter_(meter),
      shards_(static_cast<std::size_t>(shards)),
      unfinished_(shards) {}

absl::Status ShardTransfers::Run(const Work& work) {
  std::vector<std::thread> threads;
  const absl::Cleanup join = [&] {
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
  };
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  std::size_t count = 0;
  {
    MutexLock lock(mutex_);
    count = std::min(shards_.size(), cores);
  }
  while (threads.size() < count) {
    threads.emplace_back([this, &work] { WorkOff(work); });
  }
  return TellUntilAllIsDone();
}

void ShardTransfers::WorkOff(const Work& work) {
  while (true) {
    int shard = 0;
    {
      MutexLock lock(mutex_);
      if (next_ == static_cast<int>(shards_.size())) return;
      shard = next_++;
    }
    absl::Status status = absl::CancelledError("another shard has failed");
    if (!stop_)
      status = GuardedCall("filling a shard", [&] { return work(shard); });
    MutexLock lock(mutex_);
    if (!status.ok()) {
      if (first_error_.ok()) {
        first_error_ = Annotate(status, absl::StrCat("shard ", shard));
      }
      stop_ = true;
    }
    --unfinished_;
    has_news_ = true;
    changed_.SignalAll();
  }
}

absl::Status ShardTransfers::TellUntilAllIsDone() {
  absl::Status told;
  while (true) {
    Progress sum;
    bool done = false;
    {
      MutexLock lock(mutex_);
      while (!has_news_) changed_.Wait(mutex_);
      has_news_ = false;
      sum = Sum();
      done = unfinished_ == 0;
    }
    // What it tells, it may tell to a function of the user's.
    told.Update(meter_.Set(sum.done, sum.total));
    if (!told.ok()) stop_ = true;
    if (done) break;
  }
  MutexLock lock(mutex_);
  return told.ok() ? first_error_ : told;
}

void ShardTransfers::Report(int shard, std::uint64_t done,
                            std::uint64_t total) {
  MutexLock lock(mutex_);
  shards_[static_cast<std::size_t>(shard)] = {.done = done, .total = total};
  has_news_ = true;
  changed_.SignalAll();
}

ShardTransfers::Progress ShardTransfers::Sum() const {
  Progress sum;
  std::uint64_t known = 0;
  for (const std::optional<Progress>& shard : shards_) {
    if (!shard) continue;
    ++known;
    sum.done += shard->done;
    sum.total += shard->total;
  }
  if (known > 0) sum.total = sum.total * shards_.size() / known;
  return sum;
}

}  // namespace mayfly::runtime_internal
