// Small files that say what lies beside them: a protobuf message under a
// checksum.  Format: state/FORMAT.md, records.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace mayfly::state_internal {

// Replaces the file as one step.
// Errors: as WriteFileAtomically().
absl::Status WriteRecordFile(const std::string& path,
                             const google::protobuf::MessageLite& record,
                             bool sync);

// Errors: kNotFound if there is none; kDataLoss if it is not what was written;
// as ReadFile().
absl::Status ReadRecordFile(const std::string& path,
                            google::protobuf::MessageLite& record);

}  // namespace mayfly::state_internal
