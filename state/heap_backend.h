// The backend whose tables have nothing beneath them.
#pragma once

#include <memory>

#include "mayfly/state/internal/backend_core.h"

namespace mayfly::state_internal {

std::unique_ptr<BackendCore> MakeHeapBackend(const BackendOptions& options,
                                             DirectoryLock lock);

}  // namespace mayfly::state_internal
