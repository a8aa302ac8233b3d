#include "runtime/job_sweeps.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace mayfly::runtime_internal {

JobSweeps::JobSweeps(const JobPlan& plan, std::shared_ptr<const TtlClock> clock)
    : plan_(plan) {
  if (!plan.options.disk_sweeps) return;
  scheduler_ = std::make_unique<SweepScheduler>(*plan.options.disk_sweeps,
                                                std::move(clock));
}

void JobSweeps::Add(std::string shard, std::shared_ptr<DiskSweeper> sweeper) {
  if (scheduler_ == nullptr) return;
  scheduler_->Add(std::move(shard), std::move(sweeper));
}

absl::Status JobSweeps::Start() {
  if (scheduler_ == nullptr) return absl::OkStatus();
  return scheduler_->Start([this](const SweepRecord& record) { Note(record); });
}

void JobSweeps::Stop() {
  if (scheduler_ != nullptr) scheduler_->Stop();
}

void JobSweeps::PassOnErrors() {
  std::vector<std::string> messages;
  {
    MutexLock lock(mutex_);
    messages.swap(messages_);
  }
  for (const std::string& message : messages) plan_.log(message);
}

SweepReport JobSweeps::totals() const {
  return scheduler_ == nullptr ? SweepReport() : scheduler_->totals();
}

std::vector<SweepRecord> JobSweeps::history() const {
  return scheduler_ == nullptr ? std::vector<SweepRecord>()
                               : scheduler_->History();
}

void JobSweeps::Note(const SweepRecord& record) {
  MutexLock lock(mutex_);
  if (record.status.ok()) {
    failing_.erase(record.shard);
    return;
  }
  const std::string message = record.status.ToString();
  if (std::exchange(failing_[record.shard], message) == message) return;
  messages_.push_back(absl::StrCat(
      "job '", plan_.options.name, "': a sweep of the disk of ", record.shard,
      " ended early, and is tried again: ", message));
}

}  // namespace mayfly::runtime_internal
