#include "runtime/shard_runner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mayfly/serde/status_macros.h"
#include "runtime/stopwatch.h"

namespace mayfly::runtime_internal {
namespace {

// Enough that a shard never starves while the reader fills the next.
constexpr std::size_t kQueuedBatches = 4;

// A shard to which nothing comes cleans up so often, and looks at so many
// entries each time: some milliseconds in each second.
constexpr std::chrono::milliseconds kIdleWait{1000};
constexpr std::uint64_t kIdleCleanUpEntries = 50'000;
constexpr std::uint64_t kIdleRecordsMax = 1000;

// And commits so often on RocksDB, where that is one small write.
constexpr std::chrono::milliseconds kIdleCommit{10'000};

// So long it leaves the thread alone that writes its commit on heap.
constexpr std::chrono::milliseconds kWriterWait{1};

}  // namespace

ShardRunner::ShardRunner(const JobPlan& plan, int number, const TtlClock& clock)
    : plan_(plan),
      number_(number),
      clock_(clock),
      shard_(plan.make_shard(number)),
      queue_(kQueuedBatches),
      commit_timer_(plan.options.commit_interval, clock.NowMs()),
      idle_commit_timer_(kIdleCommit, clock.NowMs()),
      clean_up_timer_(kIdleWait, clock.NowMs()),
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
  committed_ = position_;
  late_before_ = position_.late_elements();
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
    const std::chrono::milliseconds wait_max = WaitMax();
    Work work;
    switch (queue_.Pop(wait_max, work)) {
      case PopResult::kItem:
        MAYFLY_RETURN_IF_ERROR(work.capture != nullptr
                                   ? BeginCapture(work.capture)
                                   : Process(work));
        break;
      case PopResult::kTimeout:
        MAYFLY_RETURN_IF_ERROR(WaitedInVain(wait_max));
        break;
      case PopResult::kClosed:
        MAYFLY_RETURN_IF_ERROR(FinishCommit());
        if (uncommitted_) {
          MAYFLY_RETURN_IF_ERROR(BeginCommit());
          MAYFLY_RETURN_IF_ERROR(FinishCommit());
        }
        MAYFLY_RETURN_IF_ERROR(CountStates());
        Publish();
        return absl::OkStatus();
      case PopResult::kCancelled:
        return absl::OkStatus();
    }
    Publish();
  }
}

std::chrono::milliseconds ShardRunner::WaitMax() const {
  if (shard_->committing()) {
    return progress_ == CommitProgress::kSaving ? std::chrono::milliseconds(0)
                                                : kWriterWait;
  }
  return uncommitted_ ? std::min(plan_.options.commit_interval, kIdleWait)
                      : kIdleWait;
}

absl::Status ShardRunner::Process(const Work& work) {
  MAYFLY_RETURN_IF_ERROR(
      shard_->Process(*work.batch, plan_.source->name(), *writer_));
  const auto records = static_cast<std::int64_t>(work.batch->records);
  uncommitted_records_ += records;
  records_since_saved_ += records;
  records_since_clean_up_ += work.batch->records;
  position_.set_records(position_.records() + work.batch->records);
  position_.set_late_elements(late_before_ + shard_->late_elements());
  idle_ = std::chrono::milliseconds(0);
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
  MAYFLY_RETURN_IF_ERROR(AdvanceCommit());
  if (CommitDue()) MAYFLY_RETURN_IF_ERROR(BeginCommit());
  return CleanUpIfIdle();
}

// What is captured is a commit of all that came before the barrier. On heap the
// shard works on until that is complete.
absl::Status ShardRunner::BeginCapture(std::shared_ptr<Capture> capture) {
  MAYFLY_RETURN_IF_ERROR(FinishCommit());
  const Stopwatch stopwatch(clock_);
  if (uncommitted_ || !has_commit_) MAYFLY_RETURN_IF_ERROR(BeginCommit());
  capture_ = std::move(capture);
  capture_pause_ = stopwatch.elapsed();
  if (!shard_->committing()) FinishCapture();
  return absl::OkStatus();
}

// A capture that fails is the capture's trouble; a commit that does is ours.
void ShardRunner::FinishCapture() {
  const Stopwatch stopwatch(clock_);
  const std::shared_ptr<Capture> capture = std::exchange(capture_, nullptr);
  absl::StatusOr<CheckpointFiles> files =
      shard_->Checkpoint(capture->ShardDirectory(number_));
  if (!files.ok()) {
    capture->Add(number_, files.status());
    return;
  }
  capture->Add(number_,
               CapturedShard{.position = committed_,
                             .files = *std::move(files),
                             .pause = capture_pause_ + stopwatch.elapsed()});
}

// The wall clock goes on although nothing comes, and so must what goes by it.
absl::Status ShardRunner::WaitedInVain(std::chrono::milliseconds waited) {
  idle_ += waited;
  if (shard_->committing()) return AdvanceCommit();
  if (uncommitted_ && idle_ >= plan_.options.commit_interval) {
    return BeginCommit();
  }
  // What has expired by the last commit is what may leave the disk.
  if (plan_.options.backend == BackendKind::kRocksdb &&
      idle_commit_timer_.Due(clock_.NowMs())) {
    return BeginCommit();
  }
  return CleanUpIfIdle();
}

// A shard to which little comes is as good as idle. The accesses of a busy one
// pay for its clean-up.
absl::Status ShardRunner::CleanUpIfIdle() {
  const TimestampMs now_ms = clock_.NowMs();
  if (!clean_up_timer_.Due(now_ms)) return absl::OkStatus();
  clean_up_timer_.Restart(now_ms);
  if (std::exchange(records_since_clean_up_, 0) > kIdleRecordsMax) {
    return absl::OkStatus();
  }
  MAYFLY_ASSIGN_OR_RETURN(const CleanUpResult result,
                          shard_->CleanUpInBackground(kIdleCleanUpEntries));
  removed_ |= result.entries_removed > 0;
  // What is gone from memory shall leave the disk too; but a commit may cost
  // as much as the state is large, so one a round will do.
  if (removed_ && result.round_complete) uncommitted_ = true;
  return absl::OkStatus();
}

// One at a time: a commit that takes long makes commits rarer, not the records
// wait.
bool ShardRunner::CommitDue() {
  return uncommitted_ && !shard_->committing() &&
         (uncommitted_records_ >= plan_.options.commit_records_max ||
          shard_->commit_due() || commit_timer_.Due(clock_.NowMs()));
}

absl::Status ShardRunner::BeginCommit() {
  MAYFLY_ASSIGN_OR_RETURN(const std::uint64_t output_bytes,
                          writer_->Flush(plan_.options.durability));
  position_.set_output_bytes(output_bytes);
  committed_ = position_;
  MAYFLY_RETURN_IF_ERROR(shard_->BeginCommit(position_.SerializeAsString()));
  uncommitted_ = false;
  uncommitted_records_ = 0;
  idle_ = std::chrono::milliseconds(0);
  removed_ = false;
  const TimestampMs now_ms = clock_.NowMs();
  commit_timer_.Restart(now_ms);
  idle_commit_timer_.Restart(now_ms);
  progress_ = CommitProgress::kSaving;
  return shard_->committing() ? absl::OkStatus() : NoteCommit();
}

// Goes on with a commit under way, and completes it as soon as nothing has to
// wait for that. Only a disk that falls far behind slows the shard down.
absl::Status ShardRunner::AdvanceCommit() {
  if (!shard_->committing()) return absl::OkStatus();
  if (progress_ == CommitProgress::kSaving) records_since_saved_ = 0;
  progress_ = shard_->StepCommit();
  const bool due = progress_ == CommitProgress::kReady ||
                   records_since_saved_ >= plan_.options.commit_records_max;
  return due ? FinishCommit() : absl::OkStatus();
}

absl::Status ShardRunner::FinishCommit() {
  if (!shard_->committing()) return absl::OkStatus();
  MAYFLY_RETURN_IF_ERROR(shard_->FinishCommit());
  return NoteCommit();
}

// What was begun is committed now.
absl::Status ShardRunner::NoteCommit() {
  ++commits_;
  has_commit_ = true;
  if (capture_ != nullptr) FinishCapture();
  const TimestampMs now_ms = clock_.NowMs();
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
  report_.late_elements = position_.late_elements();
  report_.watermark_ms = shard_->watermark_ms();
  report_.clock_jumped = shard_->clock_jumped();
}

ShardReport ShardRunner::report() const {
  MutexLock lock(mutex_);
  return report_;
}

}  // namespace mayfly::runtime_internal
