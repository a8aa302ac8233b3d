#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/simulated_log.h"
#include "tests/unit/log/log_under_test.h"

namespace mayfly {
namespace {

class Simulated final : public LogUnderTest {
 public:
  LogClient& client() override { return *client_; }

  std::string CreateTopic(std::int32_t partitions,
                          const TopicConfig& config) override {
    std::string name = NewName("topic");
    log_.CreateTopic({.name = name, .partitions = partitions, .config = config})
        .IgnoreError();
    return name;
  }

  std::chrono::milliseconds timeout() const override { return {}; }
  int polls_max() const override { return 100; }

 private:
  SimulatedLog log_{std::make_shared<ManualClock>(1'700'000'000'000)};
  const std::unique_ptr<LogClient> client_ = log_.NewClient();
};

}  // namespace

LogKind Simulation() {
  return {"Simulation", []() -> absl::StatusOr<std::unique_ptr<LogUnderTest>> {
            return std::make_unique<Simulated>();
          }};
}

}  // namespace mayfly
