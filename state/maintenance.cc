#include "mayfly/state/maintenance.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/backend_core.h"
#include "mayfly/state/internal/record_file.h"
#include "mayfly/v1/state.pb.h"
#include "state/shard_record.h"

namespace mayfly {

using state_internal::BackendCore;

absl::Status CompactShard(const std::string& directory) {
  v1::ShardRecord record;
  const absl::Status read = state_internal::ReadRecordFile(
      state_internal::ShardRecordPath(directory), record);
  if (absl::IsNotFound(read)) {
    return absl::NotFoundError(
        absl::StrCat("'", directory,
                     "' is no shard's directory: it has no MANIFEST.mayfly"));
  }
  MAYFLY_RETURN_IF_ERROR(read);
  BackendOptions options;
  options.directory = directory;
  options.kind = record.backend() == v1::BACKEND_KIND_HEAP
                     ? BackendKind::kHeap
                     : BackendKind::kRocksdb;
  MAYFLY_ASSIGN_OR_RETURN(const std::unique_ptr<BackendCore> backend,
                          BackendCore::Open(options));
  return backend->Compact();
}

}  // namespace mayfly
