#include "mayfly/compaction/sweep_plan.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace mayfly {
namespace {

// One file in the light of a purge point.
struct Candidate {
  const FileExpiry* file = nullptr;
  std::uint64_t expired_bytes = 0;
  bool all_expired = false;
  // Something in it has been expired for too long.
  bool stale = false;
};

// Part of a file's bytes on disk, which are compressed, that has expired.
std::uint64_t OnDisk(const FileExpiry& file, std::uint64_t expired) {
  if (file.times->bytes() == 0) return file.bytes;
  return static_cast<std::uint64_t>(static_cast<double>(file.bytes) *
                                    static_cast<double>(expired) /
                                    static_cast<double>(file.times->bytes()));
}

Candidate Judge(const FileExpiry& file, const PurgePoint& purge,
                const SweepOptions& options) {
  Candidate candidate{.file = &file};
  if (!file.times) return candidate;
  const TimestampMs through_ms = purge.ExpiredThrough();
  candidate.all_expired = file.times->AllThrough(through_ms);
  candidate.expired_bytes =
      candidate.all_expired
          ? file.bytes
          : OnDisk(file, file.times->BytesThrough(through_ms));
  if (const auto oldest_ms = file.times->oldest_ms()) {
    candidate.stale =
        *oldest_ms <= through_ms &&
        SaturatingAdd(purge.rule.ExpiryTime(*oldest_ms),
                      options.staleness_max.count()) <= purge.now_ms;
  }
  return candidate;
}

// The files that hold older versions of what is in one: those in deeper levels
// that overlap it and, in level 0, which is in the order of time, any other.
std::vector<const Candidate*> Below(const std::vector<Candidate>& candidates,
                                    const FileExpiry& file) {
  std::vector<const Candidate*> below;
  for (const Candidate& other : candidates) {
    if (other.file == &file || !other.file->Overlaps(file)) continue;
    if (other.file->level > file.level ||
        (file.level == 0 && other.file->level == 0)) {
      below.push_back(&other);
    }
  }
  return below;
}

SweepStep StepFor(const Candidate& candidate,
                  const std::vector<const Candidate*>& below, int last_level) {
  const FileExpiry& file = *candidate.file;
  SweepStep step{.files = {{.name = file.name,
                            .smallest_key = file.smallest_key,
                            .largest_key = file.largest_key}},
                 .output_level = file.level,
                 .bytes = file.bytes,
                 .expired_bytes = candidate.expired_bytes};
  if (below.empty() && candidate.all_expired && file.level > 0) {
    step.action = SweepAction::kDrop;
    return step;
  }
  for (const Candidate* other : below) {
    step.output_level = std::max(step.output_level, other->file->level);
    step.bytes += other->file->bytes;
    step.expired_bytes += other->expired_bytes;
  }
  // Out of level 0 a file goes where most of the data is.
  if (step.output_level == 0) step.output_level = last_level;
  return step;
}

bool IsWorthIt(const Candidate& candidate, const SweepStep& step,
               const SweepOptions& options) {
  if (step.action == SweepAction::kDrop || candidate.stale) return true;
  return static_cast<double>(step.expired_bytes) >=
         options.expired_share * static_cast<double>(step.bytes);
}

// What to do about one file; nullopt to leave it alone.
std::optional<SweepStep> Consider(const Candidate& candidate,
                                  const std::vector<Candidate>& candidates,
                                  int last_level, const SweepOptions& options) {
  const FileExpiry& file = *candidate.file;
  if (file.being_compacted || !file.times) return std::nullopt;
  if (candidate.expired_bytes == 0 && !candidate.stale) return std::nullopt;
  const std::vector<const Candidate*> below = Below(candidates, file);
  // Where everything below goes whole, so can this one, next time.
  const bool soon_alone =
      candidate.all_expired && !below.empty() &&
      std::all_of(below.begin(), below.end(), [](const Candidate* other) {
        return other->all_expired && other->file->level > 0;
      });
  if (soon_alone && file.level > 0 && !candidate.stale) return std::nullopt;
  SweepStep step = StepFor(candidate, below, last_level);
  if (!IsWorthIt(candidate, step, options)) return std::nullopt;
  return step;
}

bool LiesBefore(const Candidate& a, const Candidate& b) {
  return std::tie(a.file->level, a.file->smallest_key) <
         std::tie(b.file->level, b.file->smallest_key);
}

void Join(SweepStep next, SweepStep& step) {
  std::move(next.files.begin(), next.files.end(),
            std::back_inserter(step.files));
  step.bytes += next.bytes;
  step.expired_bytes += next.expired_bytes;
}

bool ComesFirst(const SweepStep& a, const SweepStep& b) {
  if (a.action != b.action) return a.action == SweepAction::kDrop;
  // By bytes gained for each one written.
  return static_cast<double>(a.expired_bytes) * static_cast<double>(b.bytes) >
         static_cast<double>(b.expired_bytes) * static_cast<double>(a.bytes);
}

}  // namespace

std::vector<SweepStep> PlanSweep(const std::vector<FileExpiry>& files,
                                 const PurgePoint& purge,
                                 const SweepOptions& options) {
  std::vector<Candidate> candidates;
  int last_level = 1;
  for (const FileExpiry& file : files) {
    candidates.push_back(Judge(file, purge, options));
    last_level = std::max(last_level, file.level);
  }
  std::sort(candidates.begin(), candidates.end(), LiesBefore);
  std::vector<SweepStep> steps;
  // Whether the file before this one is dropped, by the last of the steps.
  bool follows_drop = false;
  for (const Candidate& candidate : candidates) {
    std::optional<SweepStep> step =
        Consider(candidate, candidates, last_level, options);
    const bool is_drop = step && step->action == SweepAction::kDrop;
    if (is_drop && follows_drop &&
        step->output_level == steps.back().output_level) {
      Join(*std::move(step), steps.back());
    } else if (step) {
      steps.push_back(*std::move(step));
    }
    follows_drop = is_drop;
  }
  std::stable_sort(steps.begin(), steps.end(), ComesFirst);
  return steps;
}

}  // namespace mayfly
