// The log that is Apache Kafka, by librdkafka.
//
//   MAYFLY_ASSIGN_OR_RETURN(
//       std::unique_ptr<mayfly::LogClient> kafka,
//       mayfly::ConnectToKafka({.bootstrap_servers = "kafka-1:9092"}));
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mayfly/log/log_client.h"

namespace mayfly {

struct KafkaOptions {
  // "host:port", with commas between several.
  std::string bootstrap_servers = {};

  // Further properties of librdkafka by their names, for security, addresses
  // and times. Those that Mayfly sets itself are refused.
  // Source: librdkafka 2.0.2, CONFIGURATION.md.
  std::map<std::string, std::string> properties = {};

  // Takes what librdkafka has to say, a line at a time; null: nobody.
  // Threads: any, several at once.
  std::function<void(std::string_view line)> log = nullptr;
};

// Waits for no broker: that there is none is found out by the first call of
// what the client has made.
// Errors: kInvalidArgument naming a property that will not do.
absl::StatusOr<std::unique_ptr<LogClient>> ConnectToKafka(KafkaOptions options);

}  // namespace mayfly
