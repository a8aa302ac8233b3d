#include "mayfly/serde/status_macros.h"
#include "tests/kafka/broker.h"
#include "tests/kafka/broker_fixture.h"
#include "tests/unit/log/kafka_under_test.h"

namespace mayfly {
namespace {

class Real final : public KafkaUnderTest {
 public:
  using KafkaUnderTest::KafkaUnderTest;

  std::string CreateTopic(std::int32_t partitions,
                          const TopicConfig& config) override {
    NewTopic topic{.name = NewName("topic"),
                   .partitions = partitions,
                   .replicas = 1,
                   .config = config};
    topic.config["retention.ms"] = "-1";  // The tests' records are old.
    const auto admin = *client().NewAdmin();
    admin->CreateTopic(topic).IgnoreError();
    for (std::int32_t i = 0; i < partitions; ++i)
      WaitFor({topic.name, i}, *admin);
    return topic.name;
  }

  std::string NewName(std::string_view prefix) override {
    return kafka_test::UniqueName(prefix);
  }

 private:
  // A partition that was just made has no leader for a moment.
  static void WaitFor(const TopicPartition& partition, LogAdmin& admin) {
    int i = 0;
    while (i < 10'000 && !admin.Watermarks(partition).ok()) ++i;
  }
};

}  // namespace

LogKind RealBroker() {
  return {"RealBroker", []() -> absl::StatusOr<std::unique_ptr<LogUnderTest>> {
            MAYFLY_ASSIGN_OR_RETURN(const std::string bootstrap,
                                    kafka_test::SharedBootstrap());
            return std::make_unique<Real>(bootstrap);
          }};
}

}  // namespace mayfly
