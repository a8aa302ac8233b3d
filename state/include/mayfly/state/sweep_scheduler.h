// Sweeps the disks of a process's shards, each one now and then.
//
//   SweepScheduler scheduler({}, SystemClock());
//   scheduler.Add("shard-0", backend->disk_sweeper());
//   scheduler.Start();          // or call RunDue() on a thread of your own
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "mayfly/compaction/sweep_options.h"
#include "mayfly/serde/clock.h"
#include "mayfly/state/disk_sweeper.h"

namespace mayfly {

struct SweepSchedule {
  SweepOptions sweep;

  // Between two sweeps of a shard. The first comes at a random moment within
  // it, so that shards, and processes that were started together, do not sweep
  // at once.  Range: 1 s or more.
  std::chrono::milliseconds interval = std::chrono::minutes(1);

  // Sweeps at once, of as many shards.  Range: 1 to 64.
  int concurrency = 1;

  // Of the random moments; nullopt: other ones in each process.
  std::optional<std::uint64_t> seed = std::nullopt;
};

// Errors: kInvalidArgument naming the first field out of range, the value
// given and what would do.
absl::Status Validate(const SweepSchedule& schedule);

// One sweep that is done.
struct SweepRecord {
  std::string shard;
  TimestampMs start_ms = 0;
  std::chrono::milliseconds duration{0};
  // OK, or why the sweep ended early.
  absl::Status status;
  SweepReport report;
};

// Threads: any; but Start(), Stop() and destruction are for one, which is none
// of its own.
class SweepScheduler {
 public:
  // Sweeps that History() remembers.
  static constexpr std::size_t kHistoryMax = 1000;

  // Range: a schedule that Validate() accepts.
  SweepScheduler(const SweepSchedule& schedule,
                 std::shared_ptr<const TtlClock> clock);
  SweepScheduler(const SweepScheduler&) = delete;
  SweepScheduler& operator=(const SweepScheduler&) = delete;

  // Stops.
  ~SweepScheduler();

  // Has no further sweep begin, and waits for those that its threads run.
  void Stop();

  // A null sweeper, which backends on heap have, is passed over.
  void Add(std::string shard, std::shared_ptr<DiskSweeper> sweeper);

  // Runs a sweep that is due on the thread that calls it; false if none is, or
  // if as many run as may.
  bool RunDue();

  // Has threads call RunDue(). `on_swept` is called on them after each sweep;
  // it may be null, and must not throw. Call it once.
  // Errors: kFailedPrecondition the second time, and after Stop();
  // kResourceExhausted if there are no threads to be had.
  absl::Status Start(
      const std::function<void(const SweepRecord&)>& on_swept = nullptr);

  // No sweep begins while it is paused; those under way go on.
  void Pause();
  void Resume();
  bool paused() const;

  // What all sweeps have done together.
  SweepReport totals() const;

  // The last sweeps, the oldest first.
  std::vector<SweepRecord> History() const;

 private:
  struct Shard {
    std::string name;
    std::shared_ptr<DiskSweeper> sweeper;
    TimestampMs due_ms = 0;
    bool running = false;
  };

  // The shard that has been due for longest, marked as running; null if none
  // is.
  Shard* Take(TimestampMs now_ms);
  std::optional<SweepRecord> Sweep();
  void Work(const std::function<void(const SweepRecord&)>& on_swept);

  const SweepSchedule schedule_;
  const std::shared_ptr<const TtlClock> clock_;

  mutable std::mutex mutex_;
  std::condition_variable stopped_changed_;
  // All below are guarded by mutex_. A deque does not move its elements.
  std::deque<Shard> shards_;
  std::deque<SweepRecord> history_;
  SweepReport totals_;
  std::mt19937_64 random_;
  int running_ = 0;
  bool paused_ = false;
  bool stopped_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace mayfly
