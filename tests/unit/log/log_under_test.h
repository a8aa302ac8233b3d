// A log that the contract is tested on, whatever is behind it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mayfly/log/log_client.h"

namespace mayfly {

class LogUnderTest {
 public:
  virtual ~LogUnderTest() = default;

  virtual LogClient& client() = 0;

  // Creates a topic that no other test knows. The mock has no settings.
  virtual std::string CreateTopic(std::int32_t partitions,
                                  const TopicConfig& config) = 0;

  // A name that nobody else has, for groups and ids.
  virtual std::string NewName(std::string_view prefix) {
    return std::string(prefix) + "-" + std::to_string(++names_);
  }

  // How long one call may wait, and how many are made before it is taken that
  // nothing comes any more.
  virtual std::chrono::milliseconds timeout() const = 0;
  virtual int polls_max() const = 0;

 private:
  int names_ = 0;
};

// What a suite is run on.
struct LogKind {
  std::string_view name;
  // Errors: kUnavailable if there is none here; the tests are skipped then.
  absl::StatusOr<std::unique_ptr<LogUnderTest>> (*make)();

  friend void PrintTo(const LogKind& kind, std::ostream* out) {
    *out << kind.name;
  }
};

// SimulatedLog.
LogKind Simulation();
// librdkafka on the cluster that it pretends to be: without transactions,
// compaction and orders to brokers.
LogKind MockCluster();
// librdkafka on a real broker.
LogKind RealBroker();

}  // namespace mayfly
