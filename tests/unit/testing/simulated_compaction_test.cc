// The simulated cleaner does what that of Kafka does: Kafka 4.1, LogCleaner and
// Cleaner; KIP-534.
#include <string>
#include <vector>

#include "tests/unit/testing/log_fixture.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Kind = SimulatedEntry::Kind;
using KeyValue = ::mayfly::Pair;

const TopicPartition kTable{"table", 0};

// Segments roll when a second has passed; tombstones stay ten.
const TopicConfig kCompact = {
    {"cleanup.policy", "compact"},
    {"segment.ms", "1000"},
    {"min.cleanable.dirty.ratio", "0"},
    {"delete.retention.ms", "10000"},
};

SimulatedEntry Record(std::int64_t offset, const std::string& key,
                      std::optional<std::string> value) {
  return {Kind::kRecord, offset, key, std::move(value)};
}

class SimulatedCompaction : public LogFixture {
 protected:
  void SetUp() override { CreateTopic("table", 1, kCompact); }

  // So that what was written is not in the active segment any more.
  void WriteToNextSegment(const std::vector<KeyValue>& pairs) {
    clock_->Advance(std::chrono::milliseconds(1001));
    Write(pairs);
  }
  void Write(const std::vector<KeyValue>& pairs) {
    Produce(*producer_, kTable, pairs);
  }

  std::vector<SimulatedEntry> Entries() {
    const auto entries = log_.Entries(kTable);
    EXPECT_THAT(entries, IsOk());
    return *entries;
  }

  const std::unique_ptr<LogProducer> producer_ = NewProducer();
};

TEST_F(SimulatedCompaction, KeepsTheNewestRecordOfEachKeyAtItsOffset) {
  Write({{"a", "1"}, {"b", "1"}, {"a", "2"}});
  Write({{"c", "1"}, {"b", "2"}});
  WriteToNextSegment({{"x", "1"}});
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(2, "a", "2"), Record(3, "c", "1"),
                                     Record(4, "b", "2"), Record(5, "x", "1")));
  const Seen seen = ReadFrom({kTable, kLogStart});
  EXPECT_THAT(
      seen.records,
      ElementsAre(Pair(2, KeyValue{"a", "2"}), Pair(3, KeyValue{"c", "1"}),
                  Pair(4, KeyValue{"b", "2"}), Pair(5, KeyValue{"x", "1"})));
  EXPECT_EQ(seen.end, 6);
  EXPECT_EQ(Watermarks(kTable), (WatermarkOffsets{0, 6, 6}));
}

TEST_F(SimulatedCompaction, LeavesTheActiveSegmentAlone) {
  Write({{"a", "1"}, {"a", "2"}});
  clock_->Advance(std::chrono::hours(24));  // Nothing rolls by itself.
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(0, "a", "1"), Record(1, "a", "2")));
}

TEST_F(SimulatedCompaction, KeepsTheLastBatchOfARoundThoughItIsEmpty) {
  const std::unique_ptr<LogProducer> aborter = NewProducer("aborter");
  ASSERT_THAT(aborter->InitTransactions(kAtOnce), IsOk());
  ASSERT_THAT(aborter->BeginTransaction(), IsOk());
  Produce(*aborter, kTable, {{"a", "aborted"}});
  Produce(*aborter, kTable, {{"b", "aborted"}});
  clock_->Advance(std::chrono::milliseconds(1001));
  ASSERT_THAT(aborter->AbortTransaction(kAtOnce), IsOk());  // A new segment.
  ASSERT_THAT(aborter->BeginTransaction(), IsOk());
  Produce(*aborter, kTable, {{"c", "1"}});
  ASSERT_THAT(aborter->CommitTransaction(kAtOnce), IsOk());
  log_.RunCleaner();  // Of [0, 2): 0 is gone without a trace.
  EXPECT_THAT(Entries(), ElementsAre(SimulatedEntry{Kind::kEmptyBatch, 1},
                                     SimulatedEntry{Kind::kAbortMarker, 2},
                                     Record(3, "c", "1"),
                                     SimulatedEntry{Kind::kCommitMarker, 4}));
  WriteToNextSegment({{"x", "1"}});
  log_.RunCleaner();  // Of [0, 5): the batch is not the last one any more.
  EXPECT_THAT(
      Entries(),
      ElementsAre(SimulatedEntry{Kind::kAbortMarker, 2}, Record(3, "c", "1"),
                  SimulatedEntry{Kind::kCommitMarker, 4}, Record(5, "x", "1")));
}

TEST_F(SimulatedCompaction, TombstonesStayForTheirRetentionAfterTheFirstRound) {
  Write({{"a", "1"}});
  Write({{"a", std::nullopt}});
  clock_->Advance(std::chrono::hours(100));  // Never cleaned: no horizon yet.
  Write({{"x", "1"}});  // In the active segment, which is never cleaned.
  log_.RunCleaner();
  EXPECT_THAT(Entries(),
              ElementsAre(Record(1, "a", std::nullopt), Record(2, "x", "1")));

  clock_->Advance(std::chrono::milliseconds(9'999));
  Write({{"x", "2"}});
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(1, "a", std::nullopt),
                                     Record(2, "x", "1"), Record(3, "x", "2")));

  // The horizon is past, but a round is due only when something is dirty.
  clock_->Advance(std::chrono::milliseconds(1));
  log_.RunCleaner();
  EXPECT_THAT(
      ReadFrom({kTable, 0}).records,
      ElementsAre(Pair(1, KeyValue{"a", std::nullopt}),
                  Pair(2, KeyValue{"x", "1"}), Pair(3, KeyValue{"x", "2"})));
  WriteToNextSegment({{"x", "3"}});
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(3, "x", "2"), Record(4, "x", "3")));
}

TEST_F(SimulatedCompaction, TheLastBatchOfAProducerIsKeptEmpty) {
  const std::unique_ptr<LogProducer> other = NewProducer();
  Produce(*other, kTable, {{"a", "1"}});
  Write({{"a", "2"}});
  WriteToNextSegment({{"x", "1"}});
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(SimulatedEntry{Kind::kEmptyBatch, 0},
                                     Record(1, "a", "2"), Record(2, "x", "1")));
  const Seen seen = ReadFrom({kTable, 0});
  EXPECT_EQ(seen.records.front().first, 1);
}

TEST_F(SimulatedCompaction, ARoundIsDueWhenMoreThanTheRatioIsDirty) {
  CreateTopic("half", 1,
              {{"cleanup.policy", "compact"},
               {"segment.ms", "1000"},
               {"min.cleanable.dirty.ratio", "0.5"}});
  const TopicPartition half{"half", 0};
  const auto write_next = [&](const KeyValue& pair) {
    clock_->Advance(std::chrono::milliseconds(1001));
    Produce(*producer_, half, {pair});
  };
  write_next({"a", "1"});
  write_next({"b", "1"});
  log_.RunCleaner();  // All of [0, 1) is dirty.
  write_next({"a", "2"});
  log_.RunCleaner();  // As much is clean as is dirty: not more than half.
  EXPECT_THAT(
      ReadFrom({half, 0}).records,
      ElementsAre(Pair(0, KeyValue{"a", "1"}), Pair(1, KeyValue{"b", "1"}),
                  Pair(2, KeyValue{"a", "2"})));
  write_next({"b", "2"});
  log_.RunCleaner();
  EXPECT_THAT(
      ReadFrom({half, 0}).records,
      ElementsAre(Pair(1, KeyValue{"b", "1"}), Pair(2, KeyValue{"a", "2"}),
                  Pair(3, KeyValue{"b", "2"})));
}

TEST_F(SimulatedCompaction, AnOldDirtySegmentIsCleanedWhateverTheRatio) {
  CreateTopic("lag", 1,
              {{"cleanup.policy", "compact"},
               {"segment.ms", "1000"},
               {"min.cleanable.dirty.ratio", "1"},
               {"max.compaction.lag.ms", "60000"}});
  const TopicPartition lag{"lag", 0};
  Produce(*producer_, lag, {{"a", "1"}});
  Produce(*producer_, lag, {{"a", "2"}});
  clock_->Advance(std::chrono::milliseconds(1001));
  Produce(*producer_, lag, {{"x", "1"}});
  clock_->SetMs(kNowMs + 60'000);
  log_.RunCleaner();
  EXPECT_EQ(ReadFrom({lag, 0}).records.front().first, 0);
  clock_->SetMs(kNowMs + 60'001);
  log_.RunCleaner();
  EXPECT_EQ(ReadFrom({lag, 0}).records.front().first, 1);
}

TEST_F(SimulatedCompaction, WhatIsTooYoungIsLeftAlone) {
  CreateTopic("young", 1,
              {{"cleanup.policy", "compact"},
               {"segment.ms", "1000"},
               {"min.cleanable.dirty.ratio", "0"},
               {"min.compaction.lag.ms", "5000"}});
  const TopicPartition young{"young", 0};
  Produce(*producer_, young, {{"a", "1"}});
  Produce(*producer_, young, {{"a", "2"}});
  clock_->Advance(std::chrono::milliseconds(1001));
  Produce(*producer_, young, {{"x", "1"}});
  clock_->SetMs(kNowMs + 4'999);
  log_.RunCleaner();
  EXPECT_EQ(ReadFrom({young, 0}).records.front().first, 0);
  clock_->SetMs(kNowMs + 5'000);
  log_.RunCleaner();
  EXPECT_EQ(ReadFrom({young, 0}).records.front().first, 1);
}

TEST_F(SimulatedCompaction, AnOpenTransactionHoldsItUp) {
  const std::unique_ptr<LogProducer> open = NewProducer("open");
  ASSERT_THAT(open->InitTransactions(kAtOnce), IsOk());
  ASSERT_THAT(open->BeginTransaction(), IsOk());
  Produce(*open, kTable, {{"t", "1"}});
  Write({{"a", "1"}});
  Write({{"a", "2"}});
  WriteToNextSegment({{"x", "1"}});
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(0, "t", "1"), Record(1, "a", "1"),
                                     Record(2, "a", "2"), Record(3, "x", "1")));
  ASSERT_THAT(open->CommitTransaction(kAtOnce), IsOk());
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(0, "t", "1"), Record(2, "a", "2"),
                                     Record(3, "x", "1"),
                                     SimulatedEntry{Kind::kCommitMarker, 4}));
}

TEST_F(SimulatedCompaction, AbortedRecordsGoAtOnceAndTheirMarkerLater) {
  const std::unique_ptr<LogProducer> aborter = NewProducer("aborter");
  ASSERT_THAT(aborter->InitTransactions(kAtOnce), IsOk());
  Write({{"a", "1"}});
  ASSERT_THAT(aborter->BeginTransaction(), IsOk());
  Produce(*aborter, kTable, {{"a", "aborted"}});
  Produce(*aborter, kTable, {{"b", "aborted"}});
  ASSERT_THAT(aborter->AbortTransaction(kAtOnce), IsOk());
  WriteToNextSegment({{"x", "1"}});
  log_.RunCleaner();
  // The aborted record of `a` supersedes nothing. 2 is the last that its
  // producer has written; the marker saw something of its transaction go.
  EXPECT_THAT(
      Entries(),
      ElementsAre(Record(0, "a", "1"), SimulatedEntry{Kind::kEmptyBatch, 2},
                  SimulatedEntry{Kind::kAbortMarker, 3}, Record(4, "x", "1")));
}

TEST_F(SimulatedCompaction, AMarkerGoesWhenItsHorizonIsPast) {
  const std::unique_ptr<LogProducer> writer = NewProducer("writer");
  ASSERT_THAT(writer->InitTransactions(kAtOnce), IsOk());
  for (const std::string value : {"1", "2"}) {
    ASSERT_THAT(writer->BeginTransaction(), IsOk());
    Produce(*writer, kTable, {{"a", value}});
    ASSERT_THAT(writer->CommitTransaction(kAtOnce), IsOk());
  }
  WriteToNextSegment({{"x", "1"}});
  log_.RunCleaner();
  // 0 went in this round, so its marker has yet to wait for the next one.
  EXPECT_THAT(
      Entries(),
      ElementsAre(SimulatedEntry{Kind::kCommitMarker, 1}, Record(2, "a", "2"),
                  SimulatedEntry{Kind::kCommitMarker, 3}, Record(4, "x", "1")));
  WriteToNextSegment({{"x", "2"}});
  log_.RunCleaner();  // Here it gets its horizon.
  EXPECT_THAT(Entries().front(),
              (SimulatedEntry{.kind = Kind::kCommitMarker, .offset = 1}));
  clock_->Advance(std::chrono::milliseconds(10'000));
  WriteToNextSegment({{"x", "3"}});
  log_.RunCleaner();
  EXPECT_THAT(Entries(), ElementsAre(Record(2, "a", "2"),
                                     SimulatedEntry{Kind::kCommitMarker, 3},
                                     Record(5, "x", "2"), Record(6, "x", "3")));
}

TEST_F(SimulatedCompaction, RecordsWithoutAKeyAreRefused) {
  ASSERT_THAT(producer_->Produce(
                  {.topic = "table", .value = "1", .timestamp_ms = kNowMs}, 0),
              IsOk());
  ASSERT_THAT(producer_->Poll(kAtOnce), IsOk());
  EXPECT_THAT(deliveries_.back().first,
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Entries(), IsEmpty());
}

}  // namespace
}  // namespace mayfly
