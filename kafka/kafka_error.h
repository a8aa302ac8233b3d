// librdkafka's errors in the words of a log.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string_view>

#include "absl/status/status.h"
#include "kafka/rdkafka_types.h"

namespace mayfly::kafka_internal {

// OK if `code` is no error. `doing` is what was done, for the message.
absl::Status StatusOf(rd_kafka_resp_err_t code, std::string_view doing);

// As above, with what librdkafka says of the error besides its code: whether
// the producer is lost, its transaction, or only this call.
absl::Status StatusOf(const ErrorPtr& error, std::string_view doing);

// Why a client that has raised _FATAL is of no more use.
absl::Status FatalStatusOf(rd_kafka_t* client, std::string_view doing);

}  // namespace mayfly::kafka_internal
