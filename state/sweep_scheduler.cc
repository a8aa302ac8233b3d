#include "mayfly/state/sweep_scheduler.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly {
namespace {

// How often a thread looks whether something is due: the clock may be one that
// nobody can wait for.
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

absl::Status Validate(const SweepSchedule& schedule) {
  MAYFLY_RETURN_IF_ERROR(Validate(schedule.sweep));
  if (schedule.interval < std::chrono::seconds(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("SweepSchedule: interval must be at least 1000 ms, got ",
                     schedule.interval.count(), " ms"));
  }
  constexpr int kConcurrencyMax = 64;
  if (schedule.concurrency < 1 || schedule.concurrency > kConcurrencyMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("SweepSchedule: concurrency must lie between 1 and ",
                     kConcurrencyMax, ", got ", schedule.concurrency));
  }
  return absl::OkStatus();
}

SweepScheduler::SweepScheduler(const SweepSchedule& schedule,
                               std::shared_ptr<const TtlClock> clock)
    : schedule_(schedule),
      clock_(std::move(clock)),
      // Other in each process, and for each scheduler in it.
      random_(schedule.seed ? *schedule.seed
                            : absl::HashOf(::getpid(), this, clock_->NowMs())) {
}

SweepScheduler::~SweepScheduler() { Stop(); }

void SweepScheduler::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopped_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void SweepScheduler::Add(std::string shard,
                         std::shared_ptr<DiskSweeper> sweeper) {
  if (sweeper == nullptr) return;
  const std::lock_guard lock(mutex_);
  std::uniform_int_distribution<std::int64_t> phase(
      0, schedule_.interval.count() - 1);
  shards_.push_back({.name = std::move(shard),
                     .sweeper = std::move(sweeper),
                     .due_ms = SaturatingAdd(clock_->NowMs(), phase(random_))});
}

bool SweepScheduler::RunDue() { return Sweep().has_value(); }

SweepScheduler::Shard* SweepScheduler::Take(TimestampMs now_ms) {
  if (stopped_ || paused_ || running_ >= schedule_.concurrency) return nullptr;
  Shard* first = nullptr;
  for (Shard& shard : shards_) {
    // A clock that was set back far makes the shard due within an interval.
    shard.due_ms = std::min(shard.due_ms,
                            SaturatingAdd(now_ms, schedule_.interval.count()));
    if (shard.running || shard.due_ms > now_ms) continue;
    if (first == nullptr || shard.due_ms < first->due_ms) first = &shard;
  }
  if (first == nullptr) return nullptr;
  first->running = true;
  ++running_;
  return first;
}

std::optional<SweepRecord> SweepScheduler::Sweep() {
  const TimestampMs start_ms = clock_->NowMs();
  Shard* shard = nullptr;
  {
    const std::lock_guard lock(mutex_);
    shard = Take(start_ms);
  }
  if (shard == nullptr) return std::nullopt;
  const absl::StatusOr<SweepReport> report =
      shard->sweeper->Sweep(schedule_.sweep, start_ms);
  const TimestampMs end_ms = clock_->NowMs();
  SweepRecord record{.shard = shard->name,
                     .start_ms = start_ms,
                     .duration = std::chrono::milliseconds(
                         std::max<TimestampMs>(0, end_ms - start_ms)),
                     .status = report.status(),
                     .report = report.ok() ? *report : SweepReport()};
  const std::lock_guard lock(mutex_);
  shard->running = false;
  // Work that is left is not put off for a whole interval.
  shard->due_ms = record.report.steps_left > 0
                      ? SaturatingAdd(end_ms, schedule_.interval.count() / 10)
                      : SaturatingAdd(start_ms, schedule_.interval.count());
  --running_;
  totals_ += record.report;
  history_.push_back(record);
  if (history_.size() > kHistoryMax) history_.pop_front();
  return record;
}

absl::Status SweepScheduler::Start(
    const std::function<void(const SweepRecord&)>& on_swept) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || !threads_.empty()) {
      return absl::FailedPreconditionError(
          "the scheduler has been started already; make another one");
    }
  }
  try {
    for (int i = 0; i < schedule_.concurrency; ++i) {
      threads_.emplace_back([this, on_swept] { Work(on_swept); });
    }
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread for sweeps: ", error.what()));
  }
  return absl::OkStatus();
}

void SweepScheduler::Work(
    const std::function<void(const SweepRecord&)>& on_swept) {
  while (true) {
    const std::optional<SweepRecord> record = Sweep();
    if (record && on_swept != nullptr) on_swept(*record);
    std::unique_lock lock(mutex_);
    if (stopped_) return;
    if (!record) stopped_changed_.wait_for(lock, kLook);
  }
}

void SweepScheduler::Pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
}

void SweepScheduler::Resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
}

bool SweepScheduler::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

SweepReport SweepScheduler::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::vector<SweepRecord> SweepScheduler::History() const {
  const std::lock_guard lock(mutex_);
  return {history_.begin(), history_.end()};
}

}  // namespace mayfly
