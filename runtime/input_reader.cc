#include "runtime/input_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::runtime_internal {
namespace {

// Lines that are read before the shards get them, for each shard; and bytes,
// for lines may be long.
constexpr std::int64_t kStretchLines = 512;
constexpr std::uint64_t kStretchBytes = std::uint64_t{1} << 20;

bool IsBehind(const std::unique_ptr<ShardRunner>& a,
              const std::unique_ptr<ShardRunner>& b) {
  return a->position().input_bytes() < b->position().input_bytes();
}

}  // namespace

std::vector<ShardReport> ReportsOf(const ShardRunners& shards) {
  std::vector<ShardReport> reports;
  for (const auto& shard : shards) reports.push_back(shard->report());
  return reports;
}

InputReader::InputReader(const JobPlan& plan, const TtlClock& clock,
                         const ShardRunners& shards,
                         CheckpointCoordinator& checkpoints, JobSweeps& sweeps)
    : plan_(plan),
      shards_(shards),
      checkpoints_(checkpoints),
      sweeps_(sweeps),
      router_(plan.make_router()),
      malformed_(plan, clock),
      progress_(plan, clock),
      clock_watch_(plan, clock) {}

absl::Status InputReader::Start() {
  std::uint64_t records = 0;
  for (const auto& shard : shards_) {
    done_lines_.push_back(shard->position().input_lines());
    all_done_bytes_ =
        std::max(all_done_bytes_, shard->position().input_bytes());
    records += shard->position().records();
  }
  const v1::ShardPosition& last =
      (*std::ranges::min_element(shards_, IsBehind))->position();
  start_ = {.bytes = last.input_bytes(), .lines = last.input_lines()};
  position_ = handed_over_ = start_;
  malformed_.StartAt(last.malformed_lines());
  malformed_before_ = last.malformed_lines();
  progress_.StartAt(records);
  return plan_.source->SeekTo(start_);
}

absl::Status InputReader::Run(const std::atomic<bool>& stop) {
  while (!at_end_ && !MayStop(stop)) {
    MAYFLY_ASSIGN_OR_RETURN(const SourceRead read, ReadLine());
    at_end_ = read == SourceRead::kEnd;
    idle_ = read == SourceRead::kIdle;
    if (at_end_ || (!idle_ && !StretchIsFull())) continue;
    if (!HandOver() || !PassBarrier(/*is_last=*/false)) return absl::OkStatus();
    if (progress_.Due()) ReportProgress();
    sweeps_.PassOnErrors();
    if (clock_watch_.Due()) clock_watch_.Look(ReportsOf(shards_));
  }
  if (!HandOver() || !PassBarrier(/*is_last=*/true)) return absl::OkStatus();
  for (const auto& shard : shards_) shard->queue().Close();
  malformed_.Finish();
  return absl::OkStatus();
}

// What is captured on stop must be of one place of the input, which the shards
// reach soon, unless nothing comes.
bool InputReader::MayStop(const std::atomic<bool>& stop) const {
  return stop.load(std::memory_order_relaxed) &&
         (idle_ || !checkpoints_.on_stop() ||
          position_.bytes >= all_done_bytes_);
}

void InputReader::ReportProgress() {
  JobProgress progress;
  progress.input_bytes = position_.bytes;
  progress.malformed_lines = malformed_.count();
  progress.swept = sweeps_.totals();
  progress.sweeps = sweeps_.history();
  progress.checkpoints = checkpoints_.checkpoints();
  progress.savepoints = checkpoints_.savepoints();
  progress_.Report(std::move(progress), ReportsOf(shards_));
}

absl::StatusOr<SourceRead> InputReader::ReadLine() {
  MAYFLY_ASSIGN_OR_RETURN(SourceRead read, plan_.source->Next(line_));
  if (read == SourceRead::kIdle) return read;
  if (read == SourceRead::kLine) {
    absl::StatusOr<std::optional<std::string>> malformed =
        router_->Route(line_, done_lines_);
    if (!malformed.ok()) {
      return Annotate(malformed.status(),
                      absl::StrCat(plan_.source->name(), ":", line_.number));
    }
    if (*malformed) {
      read = SourceRead::kMalformed;
      line_.malformed = **std::move(malformed);
    }
  }
  if (read == SourceRead::kMalformed) {
    MAYFLY_RETURN_IF_ERROR(malformed_.Add({.file = plan_.source->name(),
                                           .line = line_.number,
                                           .reason = line_.malformed}));
    // Cut off perhaps: it is left in front of the position, so that a later
    // run finds it whole once somebody has written the rest.
    if (!line_.terminated) return SourceRead::kEnd;
  }
  position_ = line_.end;
  malformed_before_ = malformed_.count();
  return read;
}

bool InputReader::StretchIsFull() const {
  const std::int64_t lines_max = std::min(kStretchLines * plan_.options.shards,
                                          plan_.options.commit_records_max);
  return position_.lines - handed_over_.lines >=
             static_cast<std::uint64_t>(lines_max) ||
         position_.bytes - handed_over_.bytes >= kStretchBytes;
}

bool InputReader::HandOver() {
  if (position_ == handed_over_ && !at_end_) {
    return !shards_.front()->queue().cancelled();
  }
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    const bool pushed = shards_[shard]->queue().Push(
        Work{.batch = router_->TakeBatch(static_cast<int>(shard)),
             .end = position_,
             .malformed_lines = malformed_before_,
             .input_done = at_end_});
    if (!pushed) return false;
  }
  handed_over_ = position_;
  return true;
}

bool InputReader::PassBarrier(bool is_last) {
  if (!is_last && position_.bytes < all_done_bytes_) return true;
  const std::shared_ptr<Capture> capture =
      checkpoints_.Begin(position_, is_last);
  return capture == nullptr ||
         std::ranges::all_of(shards_, [&](const auto& shard) {
           return shard->queue().Push(Work{.capture = capture});
         });
}

}  // namespace mayfly::runtime_internal
