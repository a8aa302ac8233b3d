// What a real broker and a pretended one have in common.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "mayfly/kafka/kafka_client.h"
#include "tests/unit/log/log_under_test.h"

namespace mayfly {

class KafkaUnderTest : public LogUnderTest {
 public:
  explicit KafkaUnderTest(const std::string& bootstrap_servers)
      : client_(*ConnectToKafka(
            {.bootstrap_servers = bootstrap_servers,
             // The mock sleeps so long at the end of a partition.
             .properties = {{"fetch.wait.max.ms", "10"}}})) {}

  LogClient& client() override { return *client_; }
  std::chrono::milliseconds timeout() const override {
    return std::chrono::milliseconds(100);
  }
  int polls_max() const override { return 200; }

 private:
  const std::unique_ptr<LogClient> client_;
};

}  // namespace mayfly
