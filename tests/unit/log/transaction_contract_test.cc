// Transactions, and what brokers do to topics, as the seam promises it. Not on
// the mock, which does neither.
#include <string>
#include <vector>

#include "tests/unit/log/contract_test.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_P(TransactionContract, ShowsWhatIsCommittedWhenItIs) {
  const TopicPartition to{CreateTopic(), 0};
  const auto admin = *client().NewAdmin();
  const auto producer = Begin(log_->NewName("id"));
  Write(*producer, to, {"a"});
  EXPECT_THAT(admin->Watermarks(to), IsOkAndHolds(WatermarkOffsets{0, 1, 0}));
  const Seen open = ReadFrom({to, 0});
  EXPECT_THAT(open.values, IsEmpty());
  EXPECT_EQ(open.end, 0);
  EXPECT_THAT(ReadFrom({to, 0}, IsolationLevel::kReadUncommitted).values,
              ElementsAre(Pair(0, "a")));
  ASSERT_THAT(producer->CommitTransaction(kPatience), IsOk());
  WaitForMarkers(to, 2);
  EXPECT_THAT(admin->Watermarks(to), IsOkAndHolds(WatermarkOffsets{0, 2, 2}));
  const Seen seen = ReadFrom({to, 0});
  EXPECT_THAT(seen.values, ElementsAre(Pair(0, "a")));
  EXPECT_EQ(seen.end, 2);  // The marker is past.
}

TEST_P(TransactionContract, HidesWhatIsAborted) {
  const TopicPartition to{CreateTopic(), 0};
  const auto producer = Begin(log_->NewName("id"));
  Write(*producer, to, {"a"});
  ASSERT_THAT(producer->AbortTransaction(kPatience), IsOk());
  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  Write(*producer, to, {"b"});
  ASSERT_THAT(producer->CommitTransaction(kPatience), IsOk());
  WaitForMarkers(to, 4);
  const Seen seen = ReadFrom({to, 0});
  EXPECT_THAT(seen.values, ElementsAre(Pair(2, "b")));
  EXPECT_EQ(seen.end, 4);
}

TEST_P(TransactionContract, ASecondProducerFencesTheFirst) {
  const TopicPartition to{CreateTopic(), 0};
  const std::string id = log_->NewName("id");
  const auto zombie = Begin(id);
  Write(*zombie, to, {"a"});
  const auto successor = Begin(id);
  Write(*successor, to, {"b"});
  ASSERT_THAT(successor->CommitTransaction(kPatience), IsOk());
  EXPECT_EQ(LogErrorOf(zombie->CommitTransaction(kPatience)),
            LogError::kFenced);
  WaitForMarkers(to, 4);
  EXPECT_THAT(ReadFrom({to, 0}).values, ElementsAre(Pair(2, "b")));
}

TEST_P(TransactionContract, OffsetsAreCommittedWithIt) {
  const TopicPartition input{CreateTopic(), 0};
  const std::string group = log_->NewName("group");
  Write(input, {"a", "b"});
  HeldPartitions listener;
  const auto consumer = *client().NewGroupConsumer(
      {.group = group, .topics = {input.topic}}, listener);
  PollUntil(*consumer, [&] { return !listener.held().empty(); });
  const auto admin = *client().NewAdmin();
  const TopicPartition asked[] = {input};

  const auto producer = Begin(log_->NewName("id"));
  const PartitionOffset first[] = {{input, 1}};
  ASSERT_THAT(producer->SendOffsets(first, *consumer->metadata(), kPatience),
              IsOk());
  ASSERT_THAT(producer->AbortTransaction(kPatience), IsOk());
  // Until the markers are written the answer is that it is not known.
  const auto committed = [&] {
    auto offsets = admin->CommittedOffsets(group, asked);
    ExpectSoon([&] {
      if (offsets.ok()) return true;
      EXPECT_EQ(LogErrorOf(offsets.status()), LogError::kRetriable);
      offsets = admin->CommittedOffsets(group, asked);
      return offsets.ok();
    });
    return offsets;
  };
  EXPECT_THAT(committed(), IsOkAndHolds(IsEmpty()));

  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  ASSERT_THAT(producer->SendOffsets(first, *consumer->metadata(), kPatience),
              IsOk());
  ASSERT_THAT(producer->CommitTransaction(kPatience), IsOk());
  EXPECT_THAT(committed(), IsOkAndHolds(ElementsAre(first[0])));
}

TEST_P(TransactionContract, AMemberThatHasLeftCommitsNothing) {
  const TopicPartition input{CreateTopic(), 0};
  const std::string group = log_->NewName("group");
  HeldPartitions listener;
  const auto consumer = *client().NewGroupConsumer(
      {.group = group, .topics = {input.topic}}, listener);
  PollUntil(*consumer, [&] { return !listener.held().empty(); });
  const auto metadata = consumer->metadata();
  ASSERT_THAT(metadata, IsOk());
  ASSERT_THAT(consumer->Close(), IsOk());
  HeldPartitions heir_listener;
  const auto heir = *client().NewGroupConsumer(
      {.group = group, .topics = {input.topic}}, heir_listener);
  PollUntil(*heir, [&] { return !heir_listener.held().empty(); });

  const auto producer = Begin(log_->NewName("id"));
  const PartitionOffset offsets[] = {{input, 1}};
  EXPECT_EQ(LogErrorOf(producer->SendOffsets(offsets, *metadata, kPatience)),
            LogError::kAbortable);
  EXPECT_THAT(producer->AbortTransaction(kPatience), IsOk());
}

TEST_P(TransactionContract, ACompactedTopicTakesNoRecordWithoutAKey) {
  const std::string topic = CreateTopic(1, {{"cleanup.policy", "compact"}});
  const auto producer = NewProducer();
  ASSERT_THAT(
      producer->Produce(
          {.topic = topic, .value = "v", .timestamp_ms = kTimestampMs}, 0),
      IsOk());
  producer->Flush(kPatience).IgnoreError();
  ASSERT_EQ(deliveries_.size(), 1u);
  EXPECT_EQ(LogErrorOf(deliveries_[0].status), LogError::kRejected);
  EXPECT_EQ(deliveries_[0].offset, -1);
}

TEST_P(TransactionContract, TopicsAreCreatedWithTheirSettings) {
  const auto admin = *client().NewAdmin();
  const NewTopic topic{.name = log_->NewName("created"),
                       .partitions = 2,
                       .replicas = 1,
                       .config = {{"cleanup.policy", "compact"},
                                  {"delete.retention.ms", "60000"}}};
  ASSERT_THAT(admin->CreateTopic(topic), IsOk());
  EXPECT_EQ(LogErrorOf(admin->CreateTopic(topic)), LogError::kTopicExists);
  EXPECT_THAT(admin->PartitionCount(topic.name), IsOkAndHolds(2));
  const auto config = admin->DescribeConfig(topic.name);
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->at("cleanup.policy"), "compact");
  EXPECT_EQ(config->at("delete.retention.ms"), "60000");
  EXPECT_EQ(config->at("min.compaction.lag.ms"), "0");
  const NewTopic odd{.name = log_->NewName("odd"),
                     .replicas = 1,
                     .config = {{"no.such.setting", "1"}}};
  EXPECT_EQ(LogErrorOf(admin->CreateTopic(odd)), LogError::kRejected);
  EXPECT_EQ(LogErrorOf(admin->DescribeConfig("missing").status()),
            LogError::kUnknownTopic);
  EXPECT_EQ(LogErrorOf(admin->PartitionCount("missing").status()),
            LogError::kUnknownTopic);
}

TEST_P(TransactionContract, DeletedRecordsAreOutOfRange) {
  const TopicPartition to{CreateTopic(), 0};
  Write(to, {"a", "b", "c"});
  const auto admin = *client().NewAdmin();
  const PartitionOffset at[] = {{to, 2}};
  ASSERT_THAT(admin->DeleteRecords(at), IsOk());
  EXPECT_THAT(admin->Watermarks(to), IsOkAndHolds(WatermarkOffsets{2, 3, 3}));
  EXPECT_THAT(ReadFrom({to, kLogStart}).values, ElementsAre(Pair(2, "c")));
  const auto reader = NewReader({{to, 0}});
  const LogEvent event = NextEvent(*reader);
  const auto* const error = std::get_if<PartitionError>(&event);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(LogErrorOf(error->status), LogError::kOffsetOutOfRange);
  const PartitionOffset beyond[] = {{to, 4}};
  EXPECT_EQ(LogErrorOf(admin->DeleteRecords(beyond)),
            LogError::kOffsetOutOfRange);
}

}  // namespace
}  // namespace mayfly
