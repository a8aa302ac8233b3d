// Consumer groups of a simulated log.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/testing/log_fixture.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using KeyValue = ::mayfly::Pair;

constexpr auto kFenced = absl::StatusCode::kFailedPrecondition;

// A process with one member of the group "job", which writes down what it is
// told.
class TestMember final : public RebalanceListener {
 public:
  explicit TestMember(SimulatedLog& log,
                      std::optional<std::string> instance_id = std::nullopt)
      : process_(log.NewClient()) {
    auto consumer =
        process_->NewGroupConsumer({.group = "job",
                                    .topics = {"input"},
                                    .instance_id = std::move(instance_id)},
                                   *this);
    EXPECT_THAT(consumer, IsOk());
    consumer_ = *std::move(consumer);
  }

  void OnAssigned(std::span<Assignment> partitions) override {
    for (const Assignment& at : partitions) {
      held_.insert(at.partition.partition);
      told_.push_back("+" + std::to_string(at.partition.partition));
    }
  }
  void OnRevoked(std::span<const TopicPartition> partitions) override {
    GiveUp(partitions, "-");
  }
  void OnLost(std::span<const TopicPartition> partitions) override {
    GiveUp(partitions, "!");
  }

  // Polls until nothing comes, and returns the values of what came.
  std::vector<std::string> Poll() {
    std::vector<std::string> values;
    for (;;) {
      const absl::StatusOr<LogEvent> event = consumer_->Poll(kAtOnce);
      EXPECT_THAT(event, IsOk());
      if (!event.ok() || std::holds_alternative<std::monostate>(*event)) {
        return values;
      }
      if (const auto* record = std::get_if<ConsumedRecord>(&*event)) {
        values.emplace_back(*record->value);
      }
    }
  }

  absl::Status Commit(std::int32_t partition, std::int64_t offset) {
    const PartitionOffset at[] = {{{"input", partition}, offset}};
    return consumer_->Commit(at);
  }

  std::vector<std::string> TakeTold() { return std::exchange(told_, {}); }
  const std::set<std::int32_t>& held() const { return held_; }
  GroupConsumer& consumer() { return *consumer_; }
  SimulatedClient& process() { return *process_; }

 private:
  void GiveUp(std::span<const TopicPartition> partitions,
              const std::string& sign) {
    for (const TopicPartition& partition : partitions) {
      held_.erase(partition.partition);
      told_.push_back(sign + std::to_string(partition.partition));
    }
  }

  std::set<std::int32_t> held_;
  std::vector<std::string> told_;
  const std::unique_ptr<SimulatedClient> process_;
  std::unique_ptr<GroupConsumer> consumer_;
};

class SimulatedGroup : public LogFixture {
 protected:
  void SetUp() override { CreateTopic("input", 4); }

  void Write(std::int32_t partition, const std::string& value) {
    Produce(*producer_, {"input", partition}, {{"k", value}});
  }

  const std::unique_ptr<LogProducer> producer_ = NewProducer();
};

TEST_F(SimulatedGroup, AMemberAloneGetsAllAndGoesOnAtWhatIsCommitted) {
  Write(0, "a");
  Write(0, "b");
  Write(3, "c");
  {
    TestMember member(log_);
    EXPECT_THAT(member.Poll(), UnorderedElementsAre("a", "b", "c"));
    EXPECT_THAT(member.TakeTold(), ElementsAre("+0", "+1", "+2", "+3"));
    ASSERT_THAT(member.Commit(0, 1), IsOk());
    ASSERT_THAT(member.consumer().Close(), IsOk());
    EXPECT_THAT(member.TakeTold(), ElementsAre("-0", "-1", "-2", "-3"));
  }
  TestMember next(log_);
  EXPECT_THAT(next.Poll(), UnorderedElementsAre("b", "c"));
}

TEST_F(SimulatedGroup, MovesAPartitionWhenItsOwnerHasGivenItUp) {
  TestMember first(log_);
  first.Poll();
  first.TakeTold();
  TestMember second(log_);
  second.Poll();
  EXPECT_THAT(second.TakeTold(), IsEmpty());
  first.Poll();
  EXPECT_THAT(first.TakeTold(), ElementsAre("-0", "-1"));  // 2 and 3 stay.
  second.Poll();
  EXPECT_THAT(second.TakeTold(), ElementsAre("+0", "+1"));
  ASSERT_THAT(second.consumer().Close(), IsOk());
  first.Poll();
  EXPECT_THAT(first.TakeTold(), ElementsAre("+0", "+1"));
}

TEST_F(SimulatedGroup, RecordsOfARevokedPartitionComeNoMore) {
  Write(0, "a");
  Write(0, "b");
  TestMember first(log_);
  ASSERT_THAT(first.consumer().Poll(kAtOnce), IsOk());
  TestMember second(log_);
  second.Poll();
  EXPECT_THAT(first.Poll(), IsEmpty());
  EXPECT_THAT(second.Poll(), ElementsAre("a", "b"));
}

TEST_F(SimulatedGroup, AMemberThatDoesNotPollLosesAll) {
  TestMember slow(log_);
  slow.Poll();
  slow.TakeTold();
  TestMember quick(log_);
  clock_->Advance(std::chrono::milliseconds(300'000));
  quick.Poll();
  EXPECT_THAT(quick.held(), IsEmpty());
  clock_->Advance(std::chrono::milliseconds(1));
  quick.Poll();
  EXPECT_THAT(quick.held(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(slow.Commit(0, 1), StatusIs(kFenced));
  slow.Poll();
  EXPECT_THAT(slow.TakeTold(), ElementsAre("!0", "!1", "!2", "!3"));
  quick.Poll();
  slow.Poll();
  EXPECT_EQ(slow.held().size(), 2u);
  EXPECT_THAT(slow.Commit(*slow.held().begin(), 0), IsOk());
}

TEST_F(SimulatedGroup, ACrashedMemberIsFoundOutByItsSession) {
  TestMember dead(log_);
  dead.Poll();
  dead.process().Crash();
  TestMember heir(log_);
  clock_->Advance(std::chrono::milliseconds(45'000));
  heir.Poll();
  EXPECT_THAT(heir.held(), IsEmpty());
  clock_->Advance(std::chrono::milliseconds(1));
  heir.Poll();
  EXPECT_THAT(heir.held(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(dead.consumer().Poll(kAtOnce),
              StatusIs(absl::StatusCode::kInternal));
}

TEST_F(SimulatedGroup, AStaticMemberComesBackToItsPartitions) {
  TestMember other(log_, "b");
  other.Poll();
  {
    TestMember before(log_, "a");
    before.Poll();
    other.Poll();
    before.Poll();
    ASSERT_THAT(before.held(), ElementsAre(0, 1));
  }
  other.TakeTold();
  TestMember after(log_, "a");
  after.Poll();
  EXPECT_THAT(after.held(), ElementsAre(0, 1));
  other.Poll();
  EXPECT_THAT(other.TakeTold(), IsEmpty());
}

TEST_F(SimulatedGroup, NewPartitionsAreGivenOut) {
  TestMember member(log_);
  member.Poll();
  member.TakeTold();
  ASSERT_THAT(log_.AddPartitions("input", 5), IsOk());
  member.Poll();
  EXPECT_THAT(member.TakeTold(), ElementsAre("+4"));
}

TEST_F(SimulatedGroup, OffsetsOfATransactionCountWhenItIsCommitted) {
  Write(0, "a");
  TestMember member(log_);
  member.Poll();
  const auto producer = NewProducer("p");
  ASSERT_THAT(producer->InitTransactions(kAtOnce), IsOk());
  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  const PartitionOffset offsets[] = {{{"input", 0}, 1}};
  ASSERT_THAT(
      producer->SendOffsets(offsets, *member.consumer().metadata(), kAtOnce),
      IsOk());
  const auto admin = *process_->NewAdmin();
  const TopicPartition partitions[] = {{"input", 0}, {"input", 1}};
  EXPECT_THAT(admin->CommittedOffsets("job", partitions),
              StatusIs(absl::StatusCode::kUnavailable));
  ASSERT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(admin->CommittedOffsets("job", partitions),
              IsOkAndHolds(ElementsAre(offsets[0])));
}

TEST_F(SimulatedGroup, ASuccessorWaitsForOffsetsThatMayBeCommittedYet) {
  Write(0, "a");
  Write(0, "b");
  const auto producer = NewProducer("p");
  {
    TestMember member(log_);
    member.Poll();
    ASSERT_THAT(producer->InitTransactions(kAtOnce), IsOk());
    ASSERT_THAT(producer->BeginTransaction(), IsOk());
    const PartitionOffset offsets[] = {{{"input", 0}, 1}};
    ASSERT_THAT(
        producer->SendOffsets(offsets, *member.consumer().metadata(), kAtOnce),
        IsOk());
  }
  TestMember successor(log_);
  EXPECT_THAT(successor.Poll(), IsEmpty());
  ASSERT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(successor.Poll(), ElementsAre("b"));
}

TEST_F(SimulatedGroup, AMemberOfThePastCommitsNothingInATransaction) {
  TestMember slow(log_);
  slow.Poll();
  const auto stale = slow.consumer().metadata();
  ASSERT_THAT(stale, IsOk());
  clock_->Advance(std::chrono::milliseconds(300'001));
  TestMember quick(log_);
  quick.Poll();
  const auto producer = NewProducer("p");
  ASSERT_THAT(producer->InitTransactions(kAtOnce), IsOk());
  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  const PartitionOffset offsets[] = {{{"input", 0}, 1}};
  EXPECT_THAT(producer->SendOffsets(offsets, *stale, kAtOnce),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(producer->CommitTransaction(kAtOnce),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(producer->AbortTransaction(kAtOnce), IsOk());
}

TEST_F(SimulatedGroup, FaultsComeAsDescribed) {
  log_.Inject({.call = LogCall::kCommit,
               .error = LogError::kFenced,
               .after = 1,
               .times = 2});
  log_.Inject({.call = LogCall::kDeliver, .takes_effect = true});
  TestMember member(log_);
  member.Poll();
  EXPECT_THAT(member.Commit(0, 0), IsOk());
  EXPECT_THAT(member.Commit(0, 0), StatusIs(kFenced));
  EXPECT_THAT(member.Commit(0, 0), StatusIs(kFenced));
  EXPECT_THAT(member.Commit(0, 0), IsOk());
  Write(0, "a");
  EXPECT_THAT(deliveries_.back().first,
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(member.Poll(), ElementsAre("a"));
}

TEST_F(SimulatedGroup, ATopicThatIsNotThereIsToldOfAndTakenWhenItIs) {
  ASSERT_THAT(log_.DeleteTopic("input"), IsOk());
  TestMember member(log_);
  EXPECT_THAT(member.consumer().Poll(kAtOnce),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'input'")));
  EXPECT_THAT(member.Poll(), IsEmpty());
  CreateTopic("input", 1);
  member.Poll();
  EXPECT_THAT(member.TakeTold(), ElementsAre("+0"));
}

TEST_F(SimulatedGroup, MembersAndProducersMayBeOnManyThreads) {
  constexpr int kRecords = 200;
  std::atomic<int> seen = 0;
  const auto consume = [&] {
    TestMember member(log_);
    while (seen < kRecords) {
      const auto event = member.consumer().Poll(std::chrono::milliseconds(10));
      ASSERT_THAT(event, IsOk());
      if (std::holds_alternative<ConsumedRecord>(*event)) ++seen;
    }
  };
  const auto produce = [&](std::int32_t partition) {
    for (int i = 0; i < kRecords / 2; ++i) {
      EXPECT_THAT(producer_->Produce({.topic = "input",
                                      .partition = partition,
                                      .value = "v",
                                      .timestamp_ms = kNowMs},
                                     0),
                  IsOk());
    }
  };
  std::thread threads[] = {std::thread(consume), std::thread(consume),
                           std::thread(produce, 0), std::thread(produce, 3)};
  while (seen < kRecords) {
    ASSERT_THAT(producer_->Poll(kAtOnce), IsOk());
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  // Partitions that moved were read twice, so some may be on their way yet.
  ASSERT_THAT(producer_->Poll(kAtOnce), IsOk());
  EXPECT_EQ(deliveries_.size(), static_cast<std::size_t>(kRecords));
}

void DropAConsumerBeforeItsRecord() {
  SimulatedLog log(std::make_shared<ManualClock>(kNowMs));
  log.CreateTopic({.name = "input"}).IgnoreError();
  const auto process = log.NewClient();
  auto producer =
      *process->NewProducer({.on_delivery = [](const Delivery&) {}});
  producer->Produce({.topic = "input", .timestamp_ms = kNowMs}, 0)
      .IgnoreError();
  producer->Poll(kAtOnce).IgnoreError();
  auto reader = *process->NewPartitionReader({});
  const PartitionOffset from[] = {{{"input", 0}, 0}};
  reader->Assign(from).IgnoreError();
  const auto event = reader->Poll(kAtOnce);
  reader.reset();
}

TEST(SimulatedLogDeathTest, ARecordMustNotOutliveItsConsumer) {
  EXPECT_DEATH(DropAConsumerBeforeItsRecord(),
               "a consumer goes before 1 of its records");
}

}  // namespace
}  // namespace mayfly
