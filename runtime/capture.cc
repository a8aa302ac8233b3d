#include "runtime/capture.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/status_macros.h"
#include "runtime/output_file.h"

namespace mayfly::runtime_internal {

Capture::Capture(std::string directory, int shards,
                 std::function<void()> on_complete)
    : directory_(std::move(directory)),
      on_complete_(std::move(on_complete)),
      missing_(shards),
      shards_(static_cast<std::size_t>(shards)) {}

std::string Capture::ShardDirectory(int shard) const {
  return absl::StrCat(directory_, "/", Numbered("shard-", shard));
}

void Capture::Add(int shard, absl::StatusOr<CapturedShard> captured) {
  {
    MutexLock lock(mutex_);
    if (captured.ok()) {
      shards_[static_cast<std::size_t>(shard)] = *std::move(captured);
    } else if (status_.ok()) {
      status_ = Annotate(captured.status(), absl::StrCat("shard ", shard));
    }
    if (--missing_ > 0) return;
  }
  on_complete_();
}

bool Capture::complete() const {
  MutexLock lock(mutex_);
  return missing_ == 0;
}

absl::StatusOr<std::vector<CapturedShard>> Capture::Take() {
  MutexLock lock(mutex_);
  MAYFLY_RETURN_IF_ERROR(status_);
  const v1::ShardPosition& first = shards_.front().position;
  if (!std::ranges::all_of(shards_, [&first](const CapturedShard& shard) {
        return shard.position.input_bytes() == first.input_bytes() &&
               shard.position.input_lines() == first.input_lines();
      })) {
    return absl::FailedPreconditionError(
        "the shards do not stand at the same place of the input: after a "
        "crash some have to catch up with others first; let the job run on, "
        "and ask again");
  }
  return std::move(shards_);
}

}  // namespace mayfly::runtime_internal
