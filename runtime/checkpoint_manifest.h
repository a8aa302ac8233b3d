// What a checkpoint or a savepoint of a job consists of, and whether all of it
// is there.  Format: runtime/FORMAT.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/stored_checkpoint.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/v1/job.pb.h"

namespace mayfly::runtime_internal {

inline constexpr char kManifestFile[] = "manifest";

// Its name without the number: "checkpoint-" or "savepoint-".
std::string_view PrefixOf(v1::CheckpointKind kind);

// Whether it bears the name of a checkpoint, and not that of a savepoint.
bool IsNamedCheckpoint(const std::string& path);

v1::BackendKind RecordedKind(BackendKind backend);

// Errors: as WriteRecordFile().
absl::Status WriteManifest(const std::string& checkpoint,
                           v1::CheckpointManifest manifest, bool sync);

// Errors: kNotFound if there is none; kDataLoss if it is damaged;
// kFailedPrecondition if a newer version wrote it.
absl::StatusOr<v1::CheckpointManifest> ReadManifest(
    const std::string& checkpoint);

std::uint64_t BytesOf(const v1::CheckpointShard& shard);
std::uint64_t BytesOf(const v1::CheckpointManifest& manifest);

// Reads all files. `count` takes the bytes of each file that was read, and ends
// it with an error.
// Errors: kDataLoss naming the first file that is missing or another one than
// was written; of `count`.
absl::Status VerifyFiles(
    const std::string& checkpoint, const v1::CheckpointManifest& manifest,
    const std::function<absl::Status(std::uint64_t bytes)>& count);

}  // namespace mayfly::runtime_internal
