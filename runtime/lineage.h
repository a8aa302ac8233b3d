// Tells a job's checkpoints from those of others that bear its name.
#pragma once

#include <string>

#include "mayfly/serde/clock.h"
#include "mayfly/v1/job.pb.h"

namespace mayfly::runtime_internal {

// That of a job which starts for the first time.
v1::Lineage NewLineage(const TtlClock& clock);

bool IsSame(const v1::Lineage& a, const v1::Lineage& b);

// "begun 2001-01-31T12:00:00Z", for messages.
std::string ToString(const v1::Lineage& lineage);

}  // namespace mayfly::runtime_internal
