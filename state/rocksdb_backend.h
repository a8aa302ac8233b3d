// The backend whose tables lie in front of a RocksDB database.
#pragma once

#include <memory>

#include "mayfly/state/internal/backend_core.h"

namespace mayfly::state_internal {

std::unique_ptr<BackendCore> MakeRocksdbBackend(const BackendOptions& options,
                                                DirectoryLock lock);

}  // namespace mayfly::state_internal
