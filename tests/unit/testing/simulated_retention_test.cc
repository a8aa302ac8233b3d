// What moves the start of a simulated log: retention and DeleteRecords().
#include <string>
#include <vector>

#include "tests/unit/testing/log_fixture.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using KeyValue = ::mayfly::Pair;

const TopicPartition kInput{"input", 0};

class SimulatedRetention : public LogFixture {
 protected:
  void SetUp() override {
    CreateTopic("input", 1,
                {{"cleanup.policy", "compact,delete"},
                 {"retention.ms", "60000"},
                 {"segment.ms", "1000"},
                 {"min.cleanable.dirty.ratio", "1"}});
  }

  void Write(const std::string& value) {
    Produce(*producer_, kInput, {{value, value}});
  }

  const std::unique_ptr<LogProducer> producer_ = NewProducer();
};

TEST_F(SimulatedRetention, RemovesSegmentsOfWhichTheNewestRecordIsOlder) {
  Write("0");
  clock_->Advance(std::chrono::milliseconds(1000));
  Write("1");  // Still in the segment of 0.
  clock_->Advance(std::chrono::milliseconds(1));
  Write("2");
  clock_->SetMs(kNowMs + 61'000);
  log_.RunCleaner();
  EXPECT_EQ(Watermarks(kInput).low, 0);
  clock_->SetMs(kNowMs + 61'001);
  log_.RunCleaner();
  EXPECT_EQ(Watermarks(kInput).low, 2);
  EXPECT_THAT(ReadFrom({kInput, kLogStart}).records,
              ElementsAre(Pair(2, KeyValue{"2", "2"})));
}

TEST_F(SimulatedRetention, RemovesTheActiveSegmentTooWhenAllIsOld) {
  Write("0");
  Write("1");
  clock_->Advance(std::chrono::milliseconds(60'001));
  log_.RunCleaner();
  EXPECT_EQ(Watermarks(kInput), (WatermarkOffsets{2, 2, 2}));
  Write("2");
  const Seen seen = ReadFrom({kInput, kLogStart});
  EXPECT_THAT(seen.records, ElementsAre(Pair(2, KeyValue{"2", "2"})));
  EXPECT_EQ(seen.end, 3);
}

TEST_F(SimulatedRetention, GoesByTheTimestampsOfRecords) {
  ASSERT_THAT(producer_->Produce({.topic = "input",
                                  .key = "old",
                                  .value = "x",
                                  .timestamp_ms = kNowMs - 60'001},
                                 0),
              IsOk());
  ASSERT_THAT(producer_->Poll(kAtOnce), IsOk());
  log_.RunCleaner();  // A backfill may be gone at once.
  EXPECT_EQ(Watermarks(kInput).low, 1);
}

TEST_F(SimulatedRetention, ReadersBelowTheStartAreToldAndMaySeek) {
  Write("0");
  clock_->Advance(std::chrono::milliseconds(2000));
  Write("1");
  clock_->SetMs(kNowMs + 60'001);
  log_.RunCleaner();
  const std::unique_ptr<PartitionReader> reader = NewReader();
  const PartitionOffset from[] = {{kInput, 0}};
  ASSERT_THAT(reader->Assign(from), IsOk());
  const auto event = reader->Poll(kAtOnce);
  ASSERT_THAT(event, IsOk());
  const auto& error = std::get<PartitionError>(*event);
  EXPECT_EQ(error.partition, kInput);
  EXPECT_THAT(error.status, StatusIs(absl::StatusCode::kOutOfRange,
                                     HasSubstr("offset 0 is not in input-0")));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(*reader->Poll(kAtOnce)));
  ASSERT_THAT(reader->Seek({kInput, kLogStart}), IsOk());
  EXPECT_EQ(std::get<ConsumedRecord>(*reader->Poll(kAtOnce)).offset, 1);
}

TEST_F(SimulatedRetention, DeleteRecordsMovesTheStart) {
  for (const char* value : {"0", "1", "2"}) Write(value);
  const auto admin = *process_->NewAdmin();
  const PartitionOffset at[] = {{kInput, 2}};
  ASSERT_THAT(admin->DeleteRecords(at), IsOk());
  EXPECT_EQ(Watermarks(kInput), (WatermarkOffsets{2, 3, 3}));
  const PartitionOffset beyond[] = {{kInput, 4}};
  EXPECT_THAT(admin->DeleteRecords(beyond),
              StatusIs(absl::StatusCode::kOutOfRange));
  const PartitionOffset below[] = {{kInput, 1}};
  ASSERT_THAT(admin->DeleteRecords(below), IsOk());
  EXPECT_EQ(Watermarks(kInput).low, 2);
}

TEST_F(SimulatedRetention, ATopicThatIsCreatedAnewBeginsAtZero) {
  for (const char* value : {"0", "1", "2"}) Write(value);
  ASSERT_THAT(log_.DeleteTopic("input"), IsOk());
  EXPECT_THAT((*process_->NewAdmin())->Watermarks(kInput),
              StatusIs(absl::StatusCode::kNotFound));
  CreateTopic("input", 1);
  EXPECT_EQ(Watermarks(kInput), (WatermarkOffsets{0, 0, 0}));
  const std::unique_ptr<PartitionReader> reader = NewReader();
  const PartitionOffset from[] = {{kInput, 3}};
  ASSERT_THAT(reader->Assign(from), IsOk());
  EXPECT_THAT(std::get<PartitionError>(*reader->Poll(kAtOnce)).status,
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(SimulatedRetention, ClusterIdAndPartitionsChangeOnDemand) {
  const auto admin = *process_->NewAdmin();
  const auto before = admin->ClusterId();
  log_.SetClusterId("another");
  EXPECT_THAT(before, IsOkAndHolds(::testing::Ne("another")));
  EXPECT_THAT(admin->ClusterId(), IsOkAndHolds("another"));
  ASSERT_THAT(log_.AddPartitions("input", 3), IsOk());
  EXPECT_THAT(admin->PartitionCount("input"), IsOkAndHolds(3));
  EXPECT_THAT(log_.AddPartitions("input", 3),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace mayfly
