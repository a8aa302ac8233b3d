// What tests of failures do to a broker of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kafka/broker_fixture.h"
#include "tests/kafka/client.h"

namespace mayfly::kafka_test {
namespace {

using ::testing::ElementsAre;

using BrokerFailureTest = OwnBrokerTest;

// The producer lives through it all, for the address stays.
TEST_F(BrokerFailureTest, RecordsOutliveKillsRestartsAndPauses) {
  const std::string topic = UniqueName("broker_failure_test");
  const Client producer = NewProducer(broker().bootstrap());
  CreateTopic(producer.get(), topic, {});
  const auto send = [&](const Record& record) {
    Send(producer.get(), topic, record);
    Flush(producer.get());
  };
  const std::int64_t now = HourAgoMs();
  const Record first{.key = "1", .value = "before", .timestamp_ms = now};
  const Record second{.key = "2", .value = "killed", .timestamp_ms = now};
  const Record third{.key = "3", .value = "stopped", .timestamp_ms = now};
  const Record fourth{.key = "4", .value = "paused", .timestamp_ms = now};

  send(first);
  ASSERT_EQ(broker().Kill(), absl::OkStatus());
  ASSERT_EQ(broker().Restart(), absl::OkStatus());
  send(second);
  ASSERT_EQ(broker().Stop(), absl::OkStatus());
  ASSERT_EQ(broker().Restart(), absl::OkStatus());
  send(third);
  ASSERT_EQ(broker().Pause(), absl::OkStatus());
  Send(producer.get(), topic, fourth);
  EXPECT_EQ(rd_kafka_flush(producer.get(), /*timeout_ms=*/500),
            RD_KAFKA_RESP_ERR__TIMED_OUT);
  ASSERT_EQ(broker().Continue(), absl::OkStatus());
  Flush(producer.get());

  EXPECT_THAT(ReadAll(broker().bootstrap(), topic),
              ElementsAre(first, second, third, fourth));
}

TEST_F(BrokerFailureTest, TwoBrokersKnowNothingOfEachOther) {
  const absl::StatusOr<std::unique_ptr<Broker>> other = Broker::Start();
  ASSERT_EQ(other.status(), absl::OkStatus());
  const std::string topic = UniqueName("broker_failure_test");
  const std::int64_t now = HourAgoMs();
  const Record here{.key = "1", .value = "here", .timestamp_ms = now};
  const Record there{.key = "1", .value = "there", .timestamp_ms = now};
  const auto fill = [&](const std::string& bootstrap, const Record& record) {
    const Client producer = NewProducer(bootstrap);
    CreateTopic(producer.get(), topic, {});
    Send(producer.get(), topic, record);
    Flush(producer.get());
  };
  fill(broker().bootstrap(), here);
  fill((*other)->bootstrap(), there);
  EXPECT_THAT(ReadAll(broker().bootstrap(), topic), ElementsAre(here));
  EXPECT_THAT(ReadAll((*other)->bootstrap(), topic), ElementsAre(there));
}

}  // namespace
}  // namespace mayfly::kafka_test
