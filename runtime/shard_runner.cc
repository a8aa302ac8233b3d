#include "runtime/shard_runner.h"

#include <cstddef>
#include <utility>

#include "mayfly/serde/internal/status_macros.h"

namespace mayfly::runtime_internal {
namespace {

// Enough that a shard never starves while the reader fills the next.
constexpr std::size_t kQueuedBatches = 4;

}  // namespace

ShardRunner::ShardRunner(const JobPlan& plan, int number, const TtlClock& clock)
    : plan_(plan),
      number_(number),
      clock_(clock),
      shard_(plan.make_shard(number)),
      queue_(kQueuedBatches),
      commit_timer_(plan.options.commit_interval, clock.NowMs()),
      count_timer_(plan.progress_interval, clock.NowMs()) {}

absl::Status ShardRunner::Open(const BackendOptions& options) {
  MAYFLY_RETURN_IF_ERROR(shard_->Open(options));
  const std::optional<std::string> committed = shard_->committed_position();
  has_commit_ = committed.has_value();
  if (has_commit_ && !position_.ParseFromString(*committed)) {
    return absl::DataLossError(
        "the position of the last commit cannot be read; give a new state "
        "directory to start anew");
  }
  Publish();
  return absl::OkStatus();
}

absl::Status ShardRunner::OpenOutput() {
  std::optional<std::uint64_t> committed_bytes;
  if (has_commit_) committed_bytes = position_.output_bytes();
  MAYFLY_ASSIGN_OR_RETURN(
      writer_,
      plan_.sink->OpenShard(number_, plan_.options.shards, committed_bytes));
  return absl::OkStatus();
}

absl::Status ShardRunner::Run() {
  while (true) {
    std::optional<std::chrono::milliseconds> wait_max;
    if (uncommitted_) wait_max = plan_.options.commit_interval;
    Work work;
    switch (queue_.Pop(wait_max, work)) {
      case PopResult::kItem:
        MAYFLY_RETURN_IF_ERROR(Process(work));
        break;
      case PopResult::kTimeout:
        MAYFLY_RETURN_IF_ERROR(Commit());
        break;
      case PopResult::kClosed:
        if (uncommitted_) MAYFLY_RETURN_IF_ERROR(Commit());
        MAYFLY_RETURN_IF_ERROR(CountStates());
        Publish();
        return absl::OkStatus();
      case PopResult::kCancelled:
        return absl::OkStatus();
    }
    Publish();
  }
}

absl::Status ShardRunner::Process(const Work& work) {
  MAYFLY_RETURN_IF_ERROR(
      shard_->Process(*work.batch, plan_.source->name(), *writer_));
  uncommitted_records_ += static_cast<std::int64_t>(work.batch->records);
  position_.set_records(position_.records() + work.batch->records);
  // Reading starts at the shard that is furthest behind: the others are past
  // the first stretches already.
  if (work.end.bytes > position_.input_bytes() ||
      (work.input_done && !position_.input_done())) {
    position_.set_input_bytes(work.end.bytes);
    position_.set_input_lines(work.end.lines);
    position_.set_malformed_lines(work.malformed_lines);
    position_.set_input_done(work.input_done);
    uncommitted_ = true;
  }
  return CommitDue() ? Commit() : absl::OkStatus();
}

bool ShardRunner::CommitDue() {
  return uncommitted_ &&
         (uncommitted_records_ >= plan_.options.commit_records_max ||
          shard_->commit_due() || commit_timer_.Due(clock_.NowMs()));
}

absl::Status ShardRunner::Commit() {
  MAYFLY_ASSIGN_OR_RETURN(const std::uint64_t output_bytes,
                          writer_->Flush(plan_.options.durability));
  position_.set_output_bytes(output_bytes);
  MAYFLY_RETURN_IF_ERROR(shard_->Commit(position_.SerializeAsString()));
  ++commits_;
  uncommitted_ = false;
  uncommitted_records_ = 0;
  const TimestampMs now_ms = clock_.NowMs();
  commit_timer_.Restart(now_ms);
  if (plan_.on_progress == nullptr || !count_timer_.Due(now_ms)) {
    return absl::OkStatus();
  }
  MAYFLY_RETURN_IF_ERROR(CountStates());
  count_timer_.Restart(now_ms);
  return absl::OkStatus();
}

absl::Status ShardRunner::CountStates() {
  MAYFLY_ASSIGN_OR_RETURN(
      std::vector<StateStatistics> states,
      shard_->Statistics(plan_.options.statistics_visits_max));
  MutexLock lock(mutex_);
  report_.states = std::move(states);
  return absl::OkStatus();
}

void ShardRunner::Publish() {
  MutexLock lock(mutex_);
  report_.records = position_.records();
  report_.output_bytes = position_.output_bytes();
  report_.commits = commits_;
  report_.watermark_ms = shard_->watermark_ms();
}

ShardReport ShardRunner::report() const {
  MutexLock lock(mutex_);
  return report_;
}

}  // namespace mayfly::runtime_internal
