// Reading and writing partitions, as the seam promises it.
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/log/contract_test.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;
using namespace std::string_view_literals;

TEST_P(ReadWriteContract, RecordsComeBackAsTheyWereWritten) {
  const TopicPartition to{CreateTopic(2), 1};
  const auto producer = NewProducer();
  const Header headers[] = {{"plain", "a\0b"sv}, {"empty", ""}, {"none", {}}};
  ASSERT_THAT(producer->Produce({.topic = to.topic,
                                 .partition = 1,
                                 .key = "k\0y"sv,
                                 .value = "v\0\xff"sv,
                                 .timestamp_ms = kTimestampMs,
                                 .headers = headers},
                                7),
              IsOk());
  ASSERT_THAT(producer->Flush(kPatience), IsOk());
  ASSERT_EQ(deliveries_.size(), 1u);
  EXPECT_EQ(deliveries_[0].tag, 7u);
  EXPECT_THAT(deliveries_[0].status, IsOk());
  EXPECT_EQ(deliveries_[0].offset, 0);

  const auto reader = NewReader({{to, kLogStart}});
  const LogEvent event = NextEvent(*reader);
  const auto* const record = std::get_if<ConsumedRecord>(&event);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->topic, to.topic);
  EXPECT_EQ(record->partition, 1);
  EXPECT_EQ(record->offset, 0);
  EXPECT_THAT(record->key, Optional(Eq("k\0y"sv)));
  EXPECT_THAT(record->value, Optional(Eq("v\0\xff"sv)));
  EXPECT_EQ(record->timestamp_ms, kTimestampMs);
  EXPECT_THAT(record->headers, ElementsAre(headers[0], headers[1], headers[2]));
}

TEST_P(ReadWriteContract, NothingIsNotTheSameAsEmpty) {
  const TopicPartition to{CreateTopic(), 0};
  const auto producer = NewProducer();
  const std::optional<std::string_view> kinds[] = {std::nullopt, "", "x"};
  for (const auto& kind : kinds) {
    ASSERT_THAT(producer->Produce({.topic = to.topic,
                                   .key = kind,
                                   .value = kind,
                                   .timestamp_ms = kTimestampMs},
                                  0),
                IsOk());
  }
  ASSERT_THAT(producer->Flush(kPatience), IsOk());
  const auto reader = NewReader({{to, kLogStart}});
  for (const auto& kind : kinds) {
    const LogEvent event = NextEvent(*reader);
    const auto* const record = std::get_if<ConsumedRecord>(&event);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->key, kind);
    EXPECT_EQ(record->value, kind);
  }
}

TEST_P(ReadWriteContract, ClientsNeedWhatNobodyCanDoWithout) {
  const auto refusal = [](const auto& client) {
    return LogErrorOf(client.status());
  };
  HeldPartitions listener;
  EXPECT_EQ(refusal(client().NewProducer({})), LogError::kRejected);
  EXPECT_EQ(refusal(client().NewGroupConsumer({.topics = {"t"}}, listener)),
            LogError::kRejected);
  EXPECT_EQ(refusal(client().NewGroupConsumer({.group = "g"}, listener)),
            LogError::kRejected);
}

TEST_P(ReadWriteContract, TheEndIsToldAtEachArrival) {
  const TopicPartition to{CreateTopic(), 0};
  const auto reader = NewReader({{to, kLogStart}});
  EXPECT_EQ(ReadToEnd(*reader).end, 0);
  Write(to, {"a", "b"});
  const Seen seen = ReadToEnd(*reader);
  EXPECT_THAT(seen.values, ElementsAre(Pair(0, "a"), Pair(1, "b")));
  EXPECT_EQ(seen.end, 2);
  ExpectNothing(*reader);
}

TEST_P(ReadWriteContract, ReadingStartsWhereItIsAskedTo) {
  const TopicPartition to{CreateTopic(), 0};
  Write(to, {"a", "b", "c"});
  EXPECT_THAT(ReadFrom({to, 1}).values,
              ElementsAre(Pair(1, "b"), Pair(2, "c")));
  const Seen seen = ReadFrom({to, kLogEnd});
  EXPECT_THAT(seen.values, IsEmpty());
  EXPECT_EQ(seen.end, 3);
}

TEST_P(ReadWriteContract, SeekGoesBackAndForth) {
  const TopicPartition to{CreateTopic(), 0};
  Write(to, {"a", "b", "c"});
  const auto reader = NewReader({{to, 0}});
  EXPECT_THAT(ReadToEnd(*reader).values.size(), 3u);
  ASSERT_THAT(reader->Seek({to, 2}), IsOk());
  EXPECT_THAT(ReadToEnd(*reader).values, ElementsAre(Pair(2, "c")));
  ASSERT_THAT(reader->Seek({to, kLogStart}), IsOk());
  EXPECT_THAT(ReadToEnd(*reader).values.size(), 3u);
  EXPECT_THAT(reader->Seek({{"elsewhere", 0}, 0}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(ReadWriteContract, APausedPartitionGoesOnWhereItStopped) {
  const std::string topic = CreateTopic(2);
  const TopicPartition busy[] = {{topic, 0}};
  Write(busy[0], {"a", "b", "c"});
  const auto reader = NewReader({{busy[0], 0}, {{topic, 1}, 0}});
  LogEvent event;
  do {  // The end of the other one may come first.
    event = NextEvent(*reader);
  } while (std::holds_alternative<EndOfPartition>(event));
  ASSERT_TRUE(std::holds_alternative<ConsumedRecord>(event));
  event = {};
  ASSERT_THAT(reader->Pause(busy), IsOk());
  ASSERT_THAT(reader->Pause(busy), IsOk());
  Write({topic, 1}, {"x"});
  PollUntil(*reader, [&, polls = 0]() mutable { return ++polls > 5; });
  ASSERT_THAT(reader->Resume(busy), IsOk());
  ASSERT_THAT(reader->Resume(busy), IsOk());
  EXPECT_THAT(ReadToEnd(*reader).values,
              ElementsAre(Pair(1, "b"), Pair(2, "c")));
}

TEST_P(ReadWriteContract, SeekLeavesAPausedPartitionPaused) {
  const TopicPartition to[] = {{CreateTopic(), 0}};
  Write(to[0], {"a", "b"});
  const auto reader = NewReader({{to[0], 0}});
  ASSERT_THAT(reader->Pause(to), IsOk());
  ASSERT_THAT(reader->Seek({to[0], 1}), IsOk());
  ExpectNothing(*reader);
  ASSERT_THAT(reader->Resume(to), IsOk());
  EXPECT_THAT(ReadToEnd(*reader).values, ElementsAre(Pair(1, "b")));
}

TEST_P(ReadWriteContract, PartitionsComeAndGo) {
  const std::string topic = CreateTopic(2);
  Write({topic, 0}, {"a"});
  Write({topic, 1}, {"x", "y"});
  const auto reader = NewReader({{{topic, 0}, 0}});
  EXPECT_THAT(ReadToEnd(*reader).values, ElementsAre(Pair(0, "a")));
  const PartitionOffset added[] = {{{topic, 1}, 1}};
  ASSERT_THAT(reader->Assign(added), IsOk());
  EXPECT_THAT(ReadToEnd(*reader).values, ElementsAre(Pair(1, "y")));
  const TopicPartition removed[] = {{topic, 0}};
  ASSERT_THAT(reader->Unassign(removed), IsOk());
  Write({topic, 0}, {"b"});
  ExpectNothing(*reader);
  const PartitionOffset again[] = {{{topic, 0}, 1}, {{topic, 1}, 2}};
  ASSERT_THAT(reader->Assign(again), IsOk());
  const Seen one = ReadToEnd(*reader);
  const Seen other = ReadToEnd(*reader);
  EXPECT_EQ(one.end, 2);
  EXPECT_EQ(other.end, 2);
  EXPECT_EQ(one.values.size() + other.values.size(), 1u);
}

TEST_P(ReadWriteContract, AnOffsetThatIsNotThereIsToldAndSeekHelps) {
  const TopicPartition to{CreateTopic(), 0};
  Write(to, {"a"});
  const auto reader = NewReader({{to, 100}});
  const LogEvent event = NextEvent(*reader);
  const auto* const error = std::get_if<PartitionError>(&event);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->partition, to);
  EXPECT_EQ(LogErrorOf(error->status), LogError::kOffsetOutOfRange);
  ASSERT_THAT(reader->Seek({to, 0}), IsOk());
  EXPECT_THAT(ReadToEnd(*reader).values, ElementsAre(Pair(0, "a")));
}

TEST_P(ReadWriteContract, ARecordMayBeUsedOnAnotherThreadAndLater) {
  const TopicPartition to{CreateTopic(), 0};
  Write(to, {"a", "b"});
  const auto reader = NewReader({{to, 0}});
  std::vector<ConsumedRecord> kept;
  while (kept.size() < 2) {
    LogEvent event = NextEvent(*reader);
    ASSERT_TRUE(std::holds_alternative<ConsumedRecord>(event));
    kept.push_back(std::get<ConsumedRecord>(std::move(event)));
  }
  std::string read;
  std::thread([&read, records = std::move(kept)] {
    for (const ConsumedRecord& record : records) read += *record.value;
  }).join();
  EXPECT_EQ(read, "ab");
}

TEST_P(ReadWriteContract, AFullQueueTakesMoreAfterPoll) {
  const TopicPartition to{CreateTopic(), 0};
  const auto producer = NewProducer({.queue_bytes_max = 64 << 10});
  const std::string value(10'000, 'v');
  absl::Status status;
  int accepted = 0;
  while ((status = producer->Produce(Record(to, value), 0)).ok()) {
    ASSERT_LT(++accepted, 20);
  }
  EXPECT_EQ(LogErrorOf(status), LogError::kQueueFull);
  ASSERT_THAT(producer->Flush(kPatience), IsOk());
  EXPECT_EQ(deliveries_.size(), static_cast<std::size_t>(accepted));
  EXPECT_THAT(producer->Produce(Record(to, value), 0), IsOk());
  ASSERT_THAT(producer->Flush(kPatience), IsOk());
}

TEST_P(ReadWriteContract, DeliveriesComeInTheOrderOfAPartition) {
  const TopicPartition to{CreateTopic(), 0};
  const auto producer = NewProducer();
  for (std::uint64_t tag = 0; tag < 100; ++tag) {
    ASSERT_THAT(producer->Produce(Record(to, "v"), tag), IsOk());
  }
  ASSERT_THAT(producer->Flush(kPatience), IsOk());
  ASSERT_EQ(deliveries_.size(), 100u);
  for (std::uint64_t tag = 0; tag < 100; ++tag) {
    EXPECT_EQ(deliveries_[tag].tag, tag);
    EXPECT_EQ(deliveries_[tag].offset, static_cast<std::int64_t>(tag));
  }
}

TEST_P(ReadWriteContract, ARecordNeedsATimestamp) {
  const TopicPartition to{CreateTopic(), 0};
  EXPECT_THAT(NewProducer()->Produce({.topic = to.topic}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(ReadWriteContract, BrokersAreAsked) {
  const std::string topic = CreateTopic(3);
  Write({topic, 2}, {"a", "b"});
  const auto admin = *client().NewAdmin();
  EXPECT_THAT(admin->ClusterId(), IsOkAndHolds(::testing::Ne("")));
  EXPECT_THAT(admin->PartitionCount(topic), IsOkAndHolds(3));
  EXPECT_THAT(admin->Watermarks({topic, 0}),
              IsOkAndHolds(WatermarkOffsets{0, 0, 0}));
  EXPECT_THAT(admin->Watermarks({topic, 2}),
              IsOkAndHolds(WatermarkOffsets{0, 2, 2}));
}

}  // namespace
}  // namespace mayfly
