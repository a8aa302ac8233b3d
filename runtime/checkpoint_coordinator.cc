#include "runtime/checkpoint_coordinator.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/file_io.h"
#include "runtime/checkpoint_manifest.h"

namespace mayfly::runtime_internal {
namespace {

std::string Taken(const StoreResult& result, const Stopwatch& begun,
                  const std::vector<CapturedShard>& shards) {
  std::chrono::milliseconds pause{0};
  for (const CapturedShard& shard : shards) {
    pause = std::max(pause, shard.pause);
  }
  return absl::StrFormat(
      "took %s: %d bytes, %d of them new, in %.3f s; no shard was held up for "
      "more than %d ms",
      result.path, result.bytes, result.bytes_new,
      std::chrono::duration<double>(begun.elapsed()).count(), pause.count());
}

}  // namespace

CheckpointCoordinator::CheckpointCoordinator(CheckpointStores stores,
                                             const JobPlan& plan,
                                             const JobDirectory& directory,
                                             const TtlClock& clock,
                                             JobRequests& requests)
    : plan_(plan),
      directory_(directory),
      clock_(clock),
      requests_(requests),
      stores_(std::move(stores)) {
  if (plan.options.checkpoints && plan.options.checkpoints->interval) {
    timer_.emplace(*plan.options.checkpoints->interval, clock.NowMs());
  }
  if (stores_.checkpoints || stores_.savepoints) {
    thread_ = std::thread([this] { StoreAll(); });
  }
}

CheckpointCoordinator::~CheckpointCoordinator() { StopThread(); }

bool CheckpointCoordinator::on_stop() const {
  return plan_.options.savepoint_on_stop ||
         (plan_.options.checkpoints && plan_.options.checkpoints->on_stop);
}

std::shared_ptr<Capture> CheckpointCoordinator::Begin(
    const SourcePosition& position, bool is_last) {
  PassOnMessages();
  RefuseRequests();
  MutexLock lock(mutex_);
  if (!is_last && !orders_.empty()) return nullptr;
  Order order{.checkpoint = CheckpointDue(position, is_last),
              .savepoint = SavepointDue(is_last),
              .is_last = is_last,
              .begun = Stopwatch(clock_),
              .time_ms = clock_.NowMs()};
  if (!order.checkpoint && !order.savepoint) return nullptr;
  if (timer_ && order.checkpoint) timer_->Restart(order.time_ms);
  order.capture = std::make_shared<Capture>(
      directory_.CaptureDirectory(++captures_), plan_.options.shards, [this] {
        MutexLock complete(mutex_);
        changed_.SignalAll();
      });
  orders_.push_back(order);
  return order.capture;
}

// A job that is started again and again with nothing to do must not fill the
// directory with the same checkpoint, at the cost of the older ones.
bool CheckpointCoordinator::CheckpointDue(const SourcePosition& position,
                                          bool is_last) {
  if (!stores_.checkpoints) return false;
  const bool asked =
      requests_.checkpoint.exchange(false, std::memory_order_relaxed);
  return asked ||
         (is_last && plan_.options.checkpoints->on_stop &&
          stores_.checkpoints->found_at() != position) ||
         (timer_ && timer_->Due(clock_.NowMs()));
}

bool CheckpointCoordinator::SavepointDue(bool is_last) {
  if (!stores_.savepoints) return false;
  const bool asked =
      requests_.savepoint.exchange(false, std::memory_order_relaxed);
  return asked || (is_last && plan_.options.savepoint_on_stop);
}

void CheckpointCoordinator::RefuseRequests() {
  const auto refuse = [&](const char* what, const char* option) {
    plan_.log(absl::StrCat("job '", plan_.options.name, "' was asked for a ",
                           what, " and takes none: it was started without a ",
                           "directory for them, ", option));
  };
  if (!stores_.checkpoints && requests_.checkpoint.exchange(false)) {
    refuse("checkpoint", "JobOptions::checkpoints");
  }
  if (!stores_.savepoints && requests_.savepoint.exchange(false)) {
    refuse("savepoint", "JobOptions::savepoint_directory");
  }
}

void CheckpointCoordinator::PassOnMessages() {
  std::vector<std::string> messages;
  {
    MutexLock lock(mutex_);
    messages.swap(messages_);
  }
  for (const std::string& message : messages) plan_.log(message);
}

void CheckpointCoordinator::Finish() {
  StopThread();
  PassOnMessages();
}

void CheckpointCoordinator::StopThread() {
  {
    MutexLock lock(mutex_);
    finishing_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void CheckpointCoordinator::StoreAll() {
  while (const std::optional<Order> order = Next()) {
    if (order->capture->complete()) Store(*order);
    // What is left of it is in the way of nobody: the next start removes it.
    state_internal::RemoveAll(order->capture->directory()).IgnoreError();
    MutexLock lock(mutex_);
    orders_.pop_front();
  }
}

// Waits for the oldest order; nullopt if there will be none.
std::optional<CheckpointCoordinator::Order> CheckpointCoordinator::Next() {
  MutexLock lock(mutex_);
  while (!finishing_ &&
         (orders_.empty() || !orders_.front().capture->complete())) {
    changed_.Wait(mutex_);
  }
  if (orders_.empty()) return std::nullopt;
  return orders_.front();
}

absl::StatusOr<CapturedJob> CheckpointCoordinator::CapturedOf(
    const Order& order) const {
  CapturedJob captured{.directory = order.capture->directory()};
  MAYFLY_ASSIGN_OR_RETURN(captured.shards, order.capture->Take());
  captured.manifest.set_job(plan_.options.name);
  captured.manifest.set_backend(RecordedKind(plan_.options.backend));
  captured.manifest.set_time_ms(order.time_ms);
  *captured.manifest.mutable_lineage() = directory_.lineage();
  for (const std::uint64_t bytes : directory_.retired_output_bytes()) {
    captured.manifest.add_retired_output_bytes(bytes);
  }
  return captured;
}

void CheckpointCoordinator::Store(const Order& order) {
  const absl::StatusOr<CapturedJob> captured = CapturedOf(order);
  const auto settle = [&](const char* what,
                          const absl::StatusOr<StoreResult>& result,
                          CheckpointReport CheckpointCoordinator::*report) {
    MutexLock lock(mutex_);
    Count(result, this->*report);
    messages_.push_back(absl::StrCat(
        "job '", plan_.options.name, "' ",
        result.ok() ? Taken(*result, order.begun, captured->shards)
                    : absl::StrCat("took no ", what, ", and goes on: ",
                                   result.status().message())));
  };
  // First, since the checkpoint takes what was captured away.
  if (order.savepoint) {
    const absl::StatusOr<StoreResult> result =
        captured.ok() ? stores_.savepoints->PutSavepoint(*captured)
                      : captured.status();
    settle("savepoint", result, &CheckpointCoordinator::savepoints_);
    MutexLock lock(mutex_);
    if (order.is_last) last_savepoint_ = result.status();
  }
  if (order.checkpoint) {
    settle("checkpoint",
           captured.ok() ? stores_.checkpoints->PutCheckpoint(*captured)
                         : captured.status(),
           &CheckpointCoordinator::checkpoints_);
    const absl::Status kept =
        stores_.checkpoints->KeepNewest(plan_.options.checkpoints->keep);
    MutexLock lock(mutex_);
    if (!kept.ok()) {
      messages_.push_back(
          absl::StrCat("job '", plan_.options.name,
                       "' could not remove old checkpoints: ", kept.message()));
    }
  }
}

void CheckpointCoordinator::Count(const absl::StatusOr<StoreResult>& result,
                                  CheckpointReport& report) {
  if (!result.ok()) {
    ++report.failed;
    return;
  }
  ++report.taken;
  report.newest = result->path;
  report.newest_bytes = result->bytes;
  report.newest_bytes_new = result->bytes_new;
}

CheckpointReport CheckpointCoordinator::checkpoints() const {
  MutexLock lock(mutex_);
  return checkpoints_;
}

CheckpointReport CheckpointCoordinator::savepoints() const {
  MutexLock lock(mutex_);
  return savepoints_;
}

absl::Status CheckpointCoordinator::last_savepoint() const {
  MutexLock lock(mutex_);
  return last_savepoint_;
}

}  // namespace mayfly::runtime_internal
