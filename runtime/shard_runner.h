// The life of one shard: from its last commit, through what the reader hands
// it, commit by commit, to the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/clock.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/bounded_queue.h"
#include "runtime/capture.h"
#include "runtime/interval_timer.h"
#include "runtime/mutex.h"

namespace mayfly::runtime_internal {

// What a shard has to do: with a stretch of the input, or at a barrier. The
// batch is empty if none of the stretch is the shard's; where the stretch ends
// is worth knowing even so.
struct Work {
  // Null at a barrier, where there is nothing but `capture`.
  std::unique_ptr<Batch> batch;
  SourcePosition end;
  // Malformed lines of the input up to there.
  std::uint64_t malformed_lines = 0;
  bool input_done = false;
  std::shared_ptr<Capture> capture = nullptr;
};

// What others may know of a running shard.
struct ShardReport {
  std::uint64_t records = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t commits = 0;
  std::uint64_t late_elements = 0;
  TimestampMs watermark_ms = 0;
  bool clock_jumped = false;
  std::vector<StateStatistics> states;
};

// Threads: one at a time, queue() and report() any.
class ShardRunner {
 public:
  // Lifetime: the plan and the clock outlive this.
  ShardRunner(const JobPlan& plan, int number, const TtlClock& clock);

  // Opens backend and function at the last commit.
  // Errors: of the shard; kDataLoss if the committed position does not decode.
  absl::Status Open(const BackendOptions& options);

  // Takes the output back to the last commit.
  // Errors: of the sink.
  absl::Status OpenOutput();

  // Works until the queue is closed, commits and returns; or until it is
  // cancelled, and returns as it is.
  // Errors: of the shard and the writer.
  absl::Status Run();

  BoundedQueue<Work>& queue() { return queue_; }

  // Null on heap.
  std::shared_ptr<DiskSweeper> disk_sweeper() const {
    return shard_->disk_sweeper();
  }

  ShardReport report() const;

  // What the shard has done, committed or not.
  const v1::ShardPosition& position() const { return position_; }
  const std::string& output() const { return writer_->name(); }

 private:
  absl::Status Process(const Work& work);
  absl::Status BeginCapture(std::shared_ptr<Capture> capture);
  void FinishCapture();
  absl::Status WaitedInVain(std::chrono::milliseconds waited);
  absl::Status CleanUpIfIdle();
  std::chrono::milliseconds WaitMax() const;
  bool CommitDue();
  absl::Status BeginCommit();
  absl::Status AdvanceCommit();
  absl::Status FinishCommit();
  absl::Status NoteCommit();
  absl::Status CountStates();
  void Publish();

  const JobPlan& plan_;
  const int number_;
  const TtlClock& clock_;
  const std::unique_ptr<Shard> shard_;
  std::unique_ptr<SinkWriter> writer_;
  BoundedQueue<Work> queue_;

  bool has_commit_ = false;
  v1::ShardPosition position_;
  // That of the last commit, or of the one under way.
  v1::ShardPosition committed_;
  // Waits for the commit under way; and for how long the shard was held up.
  std::shared_ptr<Capture> capture_;
  std::chrono::milliseconds capture_pause_{0};
  // The position has moved since the last commit began.
  bool uncommitted_ = false;
  // Clean-up has removed something since the last commit.
  bool removed_ = false;
  // How far the commit under way is, and the records since it was kSaving.
  CommitProgress progress_ = CommitProgress::kReady;
  std::int64_t records_since_saved_ = 0;
  std::int64_t uncommitted_records_ = 0;
  // Without anything having come, since the last commit.
  std::chrono::milliseconds idle_{0};
  std::uint64_t records_since_clean_up_ = 0;
  // Late elements of earlier runs.
  std::uint64_t late_before_ = 0;
  std::uint64_t commits_ = 0;
  IntervalTimer commit_timer_;
  IntervalTimer idle_commit_timer_;
  IntervalTimer clean_up_timer_;
  IntervalTimer count_timer_;

  mutable Mutex mutex_;
  ShardReport report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mayfly::runtime_internal
