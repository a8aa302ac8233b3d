// Consumer groups, as the seam promises them.
#include <string>
#include <vector>

#include "tests/unit/log/contract_test.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_P(GroupContract, ANewMemberGoesOnWhereTheGroupHasCommitted) {
  const TopicPartition to{CreateTopic(), 0};
  const std::string group = log_->NewName("group");
  Write(to, {"a", "b", "c"});
  HeldPartitions first;
  std::vector<TopicPartition> revoked;
  {
    const auto consumer = Join(group, to.topic, first);
    EXPECT_EQ(LogErrorOf(consumer->metadata().status()), LogError::kRetriable);
    // Nothing is committed: from the start.
    EXPECT_THAT(ReadToEnd(*consumer).values,
                ElementsAre(Pair(0, "a"), Pair(1, "b"), Pair(2, "c")));
    EXPECT_THAT(first.held(), ElementsAre(to));
    EXPECT_THAT(consumer->metadata(), IsOk());
    const PartitionOffset done[] = {{to, 1}};
    ASSERT_THAT(consumer->Commit(done), IsOk());
    // What is committed while partitions go is what counts.
    first.on_revoked = [&](std::span<const TopicPartition> partitions) {
      revoked.assign(partitions.begin(), partitions.end());
      const PartitionOffset last[] = {{to, 2}};
      EXPECT_THAT(consumer->Commit(last), IsOk());
    };
    ASSERT_THAT(consumer->Close(), IsOk());
  }
  EXPECT_THAT(revoked, ElementsAre(to));
  const auto admin = *client().NewAdmin();
  const TopicPartition asked[] = {to};
  EXPECT_THAT(admin->CommittedOffsets(group, asked),
              IsOkAndHolds(ElementsAre(PartitionOffset{to, 2})));

  HeldPartitions second;
  const auto consumer = Join(group, to.topic, second);
  EXPECT_THAT(ReadToEnd(*consumer).values, ElementsAre(Pair(2, "c")));
  ASSERT_THAT(consumer->Seek({to, 1}), IsOk());
  EXPECT_THAT(ReadToEnd(*consumer).values,
              ElementsAre(Pair(1, "b"), Pair(2, "c")));
}

TEST_P(GroupContract, AListenerSaysWhereToStart) {
  class FromOne final : public HeldPartitions {
    void OnAssigned(std::span<Assignment> partitions) override {
      HeldPartitions::OnAssigned(partitions);
      for (Assignment& at : partitions) at.offset = 1;
    }
  };
  const TopicPartition to{CreateTopic(), 0};
  Write(to, {"a", "b", "c", "d"});
  FromOne listener;
  const auto consumer = Join(log_->NewName("group"), to.topic, listener);
  LogEvent event = NextEvent(*consumer);
  ASSERT_TRUE(std::holds_alternative<ConsumedRecord>(event));
  EXPECT_EQ(std::get<ConsumedRecord>(event).offset, 1);
  event = {};
  EXPECT_THAT(consumer->Close(), IsOk());  // With records that nobody takes.
  EXPECT_THAT(listener.held(), IsEmpty());
}

TEST_P(GroupContract, TwoMembersShareAndTheLastOneGetsAll) {
  const std::string topic = CreateTopic(2);
  const std::string group = log_->NewName("group");
  HeldPartitions one;
  HeldPartitions two;
  const auto first = Join(group, topic, one);
  PollUntil(*first, [&] { return one.held().size() == 2; });
  const auto second = Join(group, topic, two);
  PollUntil(*first, [&] {
    EXPECT_THAT(second->Poll(log_->timeout()), IsOk());
    return one.held().size() == 1 && two.held().size() == 1;
  });
  EXPECT_NE(one.held(), two.held());
  ASSERT_THAT(first->Close(), IsOk());
  EXPECT_THAT(one.held(), IsEmpty());
  PollUntil(*second, [&] { return two.held().size() == 2; });
}

TEST_P(GroupContract, AConsumerNeedsAGroupAndTopics) {
  HeldPartitions listener;
  EXPECT_THAT(client().NewGroupConsumer({.group = "g"}, listener),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(client().NewGroupConsumer({.topics = {"t"}}, listener),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace mayfly
