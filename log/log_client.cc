#include "mayfly/log/log_client.h"

#include "mayfly/log/log_error.h"

namespace mayfly {

absl::Status Validate(const GroupConsumerOptions& options) {
  if (!options.group.empty() && !options.topics.empty()) {
    return absl::OkStatus();
  }
  return MakeLogError(LogError::kRejected,
                      "a group consumer needs a group and topics");
}

absl::Status Validate(const ProducerOptions& options) {
  if (options.on_delivery != nullptr) return absl::OkStatus();
  return MakeLogError(LogError::kRejected,
                      "a producer needs on_delivery to tell what became of its "
                      "records");
}

}  // namespace mayfly
