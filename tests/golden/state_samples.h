// Records as samples, which a golden savepoint holds too.
#pragma once

#include "mayfly/v1/state.pb.h"

namespace mayfly::golden {

v1::StateRecord Streak();
v1::StateRecord Rewritten();
v1::StateRecord Recent();
v1::StateRecord Destinations();
v1::ShardRecord Shard(v1::BackendKind backend);
v1::CommitRecord Commit();

}  // namespace mayfly::golden
