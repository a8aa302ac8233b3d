// Transactions of a simulated log.
#include <string>
#include <vector>

#include "tests/unit/testing/log_fixture.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using KeyValue = ::mayfly::Pair;
using Kind = SimulatedEntry::Kind;

const TopicPartition kOutput{"output", 0};
constexpr auto kAborted = absl::StatusCode::kAborted;
constexpr auto kFenced = absl::StatusCode::kFailedPrecondition;
constexpr auto kRetriable = absl::StatusCode::kUnavailable;

class SimulatedTransactions : public LogFixture {
 protected:
  void SetUp() override { CreateTopic("output", 1); }

  std::unique_ptr<LogProducer> Begin(const std::string& id) {
    auto producer = NewProducer(id);
    EXPECT_THAT(producer->InitTransactions(kAtOnce), IsOk());
    EXPECT_THAT(producer->BeginTransaction(), IsOk());
    return producer;
  }

  void Write(LogProducer& producer, const std::string& value) {
    Produce(producer, kOutput, {{"k", value}});
  }

  std::vector<std::string> Committed() {
    std::vector<std::string> values;
    for (const auto& [offset, pair] : ReadFrom({kOutput, kLogStart}).records) {
      values.push_back(*pair.value);
    }
    return values;
  }
};

TEST_F(SimulatedTransactions, ShowWhatIsCommittedWhenItIs) {
  const auto producer = Begin("p");
  Write(*producer, "1");
  EXPECT_EQ(Watermarks(kOutput), (WatermarkOffsets{0, 1, 0}));
  EXPECT_THAT(Committed(), IsEmpty());
  EXPECT_THAT(ReadFrom({kOutput, 0}, IsolationLevel::kReadUncommitted).records,
              SizeIs(1));
  ASSERT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  // The marker is at offset 1.
  EXPECT_EQ(Watermarks(kOutput), (WatermarkOffsets{0, 2, 2}));
  EXPECT_THAT(Committed(), ElementsAre("1"));
  EXPECT_EQ(ReadFrom({kOutput, 0}).end, 2);
}

TEST_F(SimulatedTransactions, HideWhatIsAborted) {
  const auto producer = Begin("p");
  Write(*producer, "1");
  ASSERT_THAT(producer->AbortTransaction(kAtOnce), IsOk());
  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  Write(*producer, "2");
  ASSERT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(Committed(), ElementsAre("2"));
  EXPECT_THAT(
      ReadFrom({kOutput, 0}, IsolationLevel::kReadUncommitted).records,
      ElementsAre(Pair(0, KeyValue{"k", "1"}), Pair(2, KeyValue{"k", "2"})));
}

TEST_F(SimulatedTransactions, TheFirstThatIsOpenHoldsUpReadersOfAllOthers) {
  const auto open = Begin("open");
  const auto other = Begin("other");
  Write(*other, "1");
  Write(*open, "2");
  Write(*other, "3");
  ASSERT_THAT(other->CommitTransaction(kAtOnce), IsOk());
  Produce(*NewProducer(), kOutput, {{"k", "4"}});
  EXPECT_EQ(Watermarks(kOutput), (WatermarkOffsets{0, 5, 1}));
  EXPECT_THAT(Committed(), ElementsAre("1"));
  ASSERT_THAT(open->AbortTransaction(kAtOnce), IsOk());
  EXPECT_THAT(Committed(), ElementsAre("1", "3", "4"));
}

TEST_F(SimulatedTransactions, ANewProducerFencesTheOldOne) {
  const auto zombie = Begin("p");
  Write(*zombie, "1");
  const auto successor = Begin("p");  // Aborts it.
  EXPECT_EQ(Watermarks(kOutput).last_stable, 2);
  Write(*successor, "2");
  ASSERT_THAT(zombie->Produce(
                  {.topic = "output", .key = "k", .timestamp_ms = kNowMs}, 0),
              IsOk());
  EXPECT_THAT(zombie->Poll(kAtOnce), StatusIs(kFenced, HasSubstr("'p'")));
  EXPECT_THAT(deliveries_.back().first, StatusIs(kFenced));
  EXPECT_THAT(zombie->CommitTransaction(kAtOnce), StatusIs(kFenced));
  EXPECT_THAT(zombie->AbortTransaction(kAtOnce), StatusIs(kFenced));
  ASSERT_THAT(successor->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(Committed(), ElementsAre("2"));
}

TEST_F(SimulatedTransactions, OneThatIsOpenForTooLongIsAborted) {
  const auto producer = Begin("p");
  Write(*producer, "1");
  clock_->Advance(std::chrono::milliseconds(60'000));
  EXPECT_EQ(Watermarks(kOutput).last_stable, 0);
  clock_->Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(Watermarks(kOutput).last_stable, 2);
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), StatusIs(kFenced));
  EXPECT_THAT(Committed(), IsEmpty());
}

TEST_F(SimulatedTransactions, ARecordThatIsRefusedSpoilsItsTransaction) {
  const auto producer = Begin("p");
  Write(*producer, "1");
  ASSERT_THAT(producer->Produce(
                  {.topic = "missing", .key = "k", .timestamp_ms = kNowMs}, 7),
              IsOk());
  ASSERT_THAT(producer->Poll(kAtOnce), IsOk());
  EXPECT_THAT(deliveries_.back().first, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), StatusIs(kAborted));
  EXPECT_THAT(producer->Produce({.topic = "output", .timestamp_ms = kNowMs}, 0),
              StatusIs(kAborted));
  ASSERT_THAT(producer->AbortTransaction(kAtOnce), IsOk());
  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  Write(*producer, "2");
  ASSERT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(Committed(), ElementsAre("2"));
}

TEST_F(SimulatedTransactions, AbortDropsWhatWasNotSent) {
  const auto producer = Begin("p");
  ASSERT_THAT(producer->Produce(
                  {.topic = "output", .key = "k", .timestamp_ms = kNowMs}, 0),
              IsOk());
  ASSERT_THAT(producer->AbortTransaction(kAtOnce), IsOk());
  EXPECT_THAT(deliveries_, ElementsAre(Pair(StatusIs(kAborted), -1)));
  EXPECT_EQ(Watermarks(kOutput).high, 0);
}

TEST_F(SimulatedTransactions, ACommitWhoseAnswerIsLostIsMadeAgain) {
  const auto producer = Begin("p");
  Write(*producer, "1");
  log_.Inject({.call = LogCall::kCommitTransaction,
               .error = LogError::kRetriable,
               .takes_effect = true});
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), StatusIs(kRetriable));
  EXPECT_THAT(Committed(), ElementsAre("1"));
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(producer->CommitTransaction(kAtOnce),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Committed(), ElementsAre("1"));
}

TEST_F(SimulatedTransactions, ACommitThatDidNotArriveIsMadeAgain) {
  const auto producer = Begin("p");
  Write(*producer, "1");
  log_.Inject({.call = LogCall::kCommitTransaction, .times = 2});
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), StatusIs(kRetriable));
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), StatusIs(kRetriable));
  EXPECT_THAT(Committed(), IsEmpty());
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), IsOk());
  EXPECT_THAT(Committed(), ElementsAre("1"));
}

TEST_F(SimulatedTransactions, ACrashLeavesThemOpenUntilTheyTimeOut) {
  const auto process = log_.NewClient();
  auto producer = *process->NewProducer(
      {.on_delivery = [](const Delivery&) {}, .transactional_id = "p"});
  ASSERT_THAT(producer->InitTransactions(kAtOnce), IsOk());
  ASSERT_THAT(producer->BeginTransaction(), IsOk());
  Write(*producer, "1");
  process->Crash();
  EXPECT_THAT(producer->CommitTransaction(kAtOnce),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("crashed")));
  producer.reset();
  EXPECT_EQ(Watermarks(kOutput).last_stable, 0);
  clock_->Advance(std::chrono::milliseconds(60'001));
  EXPECT_EQ(Watermarks(kOutput).last_stable, 2);
}

TEST_F(SimulatedTransactions, WantAnIdAndABeginning) {
  constexpr auto kRejected = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(NewProducer()->InitTransactions(kAtOnce), StatusIs(kRejected));
  const auto producer = NewProducer("p");
  EXPECT_THAT(producer->BeginTransaction(), StatusIs(kRejected));
  ASSERT_THAT(producer->InitTransactions(kAtOnce), IsOk());
  EXPECT_THAT(producer->Produce({.topic = "output", .timestamp_ms = kNowMs}, 0),
              StatusIs(kRejected));
  EXPECT_THAT(producer->CommitTransaction(kAtOnce), StatusIs(kRejected));
}

}  // namespace
}  // namespace mayfly
