// How a job starts: where it was, with what it is restored from, or anew.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/clock.h"
#include "mayfly/v1/job.pb.h"
#include "runtime/job_directory.h"
#include "runtime/job_restore.h"
#include "runtime/restore_meter.h"

namespace mayfly::runtime_internal {

struct JobStart {
  v1::Lineage lineage;
  // nullopt: the job goes on with what its state directory holds.
  std::optional<JobBeginning> beginning;
  // nullopt: it begins with nothing, or goes on.
  std::optional<JobRestore> restore;
};

// Decides, and makes sure that the output fits: what is restored needs the
// lines that were written with it, and a job that starts anew and is to be
// remembered takes no output with lines in it, which may be all that is left of
// an earlier one. Changes nothing.
// Lifetime: plan and meter outlive the result.
// Errors: kInvalidArgument for checkpoints or savepoints in the state
// directory; kFailedPrecondition for lines that nothing accounts for; kDataLoss
// for lines that are missing; of the sink; as JobDirectory::Look() and
// JobRestore::Find().
absl::StatusOr<JobStart> FindStart(const JobPlan& plan, const TtlClock& clock,
                                   RestoreMeter& meter);

}  // namespace mayfly::runtime_internal
