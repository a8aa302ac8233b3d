#include <librdkafka/rdkafka.h>
// Wants the other one before it.
#include <librdkafka/rdkafka_mock.h>

#include "tests/unit/log/kafka_under_test.h"

namespace mayfly {
namespace {

struct MockBrokers {
  MockBrokers() {
    char error[512] = "";
    client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error,
                          sizeof(error));
    cluster = rd_kafka_mock_cluster_new(client, /*broker_cnt=*/1);
  }
  MockBrokers(const MockBrokers&) = delete;
  MockBrokers& operator=(const MockBrokers&) = delete;
  ~MockBrokers() {
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(client);
  }

  rd_kafka_t* client = nullptr;
  rd_kafka_mock_cluster_t* cluster = nullptr;
};

class Mock final : private MockBrokers, public KafkaUnderTest {
 public:
  Mock() : KafkaUnderTest(rd_kafka_mock_cluster_bootstraps(cluster)) {}

  std::string CreateTopic(std::int32_t partitions,
                          const TopicConfig&) override {
    std::string name = NewName("topic");
    rd_kafka_mock_topic_create(cluster, name.c_str(), partitions, 1);
    return name;
  }
};

}  // namespace

LogKind MockCluster() {
  return {"MockCluster", []() -> absl::StatusOr<std::unique_ptr<LogUnderTest>> {
            return std::make_unique<Mock>();
          }};
}

}  // namespace mayfly
