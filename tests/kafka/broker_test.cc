// That the broker of the tests is a real one: what a simulation would have to
// claim can be seen here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/kafka/broker_fixture.h"
#include "tests/kafka/client.h"

namespace mayfly::kafka_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

class BrokerTest : public SharedBrokerTest {
 protected:
  void SetUp() override {
    SharedBrokerTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    producer_ = NewProducer(bootstrap());
  }

  rd_kafka_t* producer() { return producer_.get(); }

  std::string NewTopic(const Settings& settings = {}) {
    std::string topic = UniqueName("broker_test");
    CreateTopic(producer(), topic, settings);
    return topic;
  }

 private:
  Client producer_;
};

TEST_F(BrokerTest, IsTheOnlyOneOfItsCluster) {
  EXPECT_THAT(BrokerIds(producer()), ElementsAre(1));
}

TEST_F(BrokerTest, TopicsHaveTheSettingsTheyWereMadeWith) {
  const Settings settings = {{"cleanup.policy", "compact,delete"},
                             {"delete.retention.ms", "604800000"},
                             {"max.compaction.lag.ms", "86400000"},
                             {"min.cleanable.dirty.ratio", "0.25"},
                             {"retention.ms", "7200000"},
                             {"segment.bytes", "67108864"},
                             {"segment.ms", "3600000"}};
  const std::string topic = NewTopic(settings);
  EXPECT_THAT(DescribeTopic(producer(), topic), IsSupersetOf(settings));
}

TEST_F(BrokerTest, RecordsComeBackWithAllTheirParts) {
  const std::string topic = NewTopic();
  const std::int64_t now = HourAgoMs();
  const std::vector<Record> records = {
      {.key = "JFK", .value = "12", .timestamp_ms = now},
      {.key = "LAX", .value = std::nullopt, .timestamp_ms = now + 1},
      {.key = "LAX", .value = "", .timestamp_ms = now + 2},
      {.key = "", .value = "7", .timestamp_ms = now - 1000},
      {.key = std::nullopt,
       .value = std::string("\0\xff", 2),
       .headers = {{"offset", "41"}, {"offset", ""}, {"attempt", "2"}},
       .timestamp_ms = now + 3},
  };
  for (const Record& record : records) Send(producer(), topic, record);
  Flush(producer());
  EXPECT_EQ(ReadAll(bootstrap(), topic), records);
}

// 30,000 records of 1,000 keys, the topic's offsets staying as they are.
TEST_F(BrokerTest, CompactionLeavesTheLastRecordOfEachKey) {
  const std::string topic = NewTopic({{"cleanup.policy", "compact"},
                                      {"min.cleanable.dirty.ratio", "0.0"},
                                      {"segment.ms", "60000"}});
  const std::int64_t start = HourAgoMs();
  constexpr int kRecords = 30'000;
  std::map<std::string, Record> last;
  std::uint32_t random = 1;
  for (int i = 0; i < kRecords; ++i) {
    random = random * 1'664'525 + 1'013'904'223;
    const Record record{.key = std::to_string(random / 65'536 % 1000),
                        .value = std::to_string(i),
                        .timestamp_ms = start + i};
    Send(producer(), topic, record);
    last.insert_or_assign(*record.key, record);
  }
  ASSERT_EQ(last.size(), 1000u);
  // The segment that is written to is not cleaned. This record is so much
  // younger that it starts another.
  const Record roll{
      .key = "roll", .value = "", .timestamp_ms = start + 600'000};
  Flush(producer());
  EXPECT_EQ(ReadAll(bootstrap(), topic).size(), kRecords * 1u);
  Send(producer(), topic, roll);
  Flush(producer());
  last.insert_or_assign("roll", roll);

  std::vector<Record> records;
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  do {
    records = ReadAll(bootstrap(), topic);
  } while (records.size() > last.size() && absl::Now() < deadline);

  ASSERT_EQ(records.size(), last.size());
  for (const Record& record : records) {
    EXPECT_EQ(record, last.at(*record.key));
  }
  const Offsets offsets = QueryOffsets(producer(), topic);
  EXPECT_EQ(offsets.first, 0);
  EXPECT_EQ(offsets.end, kRecords + 1);
}

TEST_F(BrokerTest, RecordsOfAnAbortedTransactionAreNotCommitted) {
  const std::string topic = NewTopic();
  const std::int64_t now = HourAgoMs();
  const Record kept{.key = "JFK", .value = "1", .timestamp_ms = now};
  const Record aborted{.key = "JFK", .value = "2", .timestamp_ms = now};
  const Record open{.key = "JFK", .value = "3", .timestamp_ms = now};
  const Client client = NewProducer(
      bootstrap(), {{"transactional.id", UniqueName("broker_test")}});
  Check(rd_kafka_init_transactions(client.get(), 60'000), "init");

  Check(rd_kafka_begin_transaction(client.get()), "begin");
  Send(client.get(), topic, kept);
  Check(rd_kafka_commit_transaction(client.get(), -1), "commit");
  Check(rd_kafka_begin_transaction(client.get()), "begin");
  Send(client.get(), topic, aborted);
  Flush(client.get());
  Check(rd_kafka_abort_transaction(client.get(), -1), "abort");
  Check(rd_kafka_begin_transaction(client.get()), "begin");
  Send(client.get(), topic, open);
  Flush(client.get());

  EXPECT_THAT(ReadAll(bootstrap(), topic), ElementsAre(kept));
  EXPECT_THAT(ReadAll(bootstrap(), topic, Isolation::kReadUncommitted),
              ElementsAre(kept, aborted, open));
  Check(rd_kafka_commit_transaction(client.get(), -1), "commit");
  EXPECT_THAT(ReadAll(bootstrap(), topic), ElementsAre(kept, open));
}

}  // namespace
}  // namespace mayfly::kafka_test
